// The command line: finds the sub-command and runs it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "main/command.h"

namespace taut {
namespace {

constexpr std::array kCommands{
    Command{"serve", "Run the gateway: chat over WebSocket, HTTP beside it", run_serve},
    Command{"config", "Show the settings that serve would run with, and where each comes from", run_config},
    Command{"token", "Sign a token for a visitor, an agent or an administrator", run_token},
    Command{"journal check", "Say whether the journal of a data directory is whole", run_journal_check},
    Command{"journal dump", "Print the journal of a data directory, a line of JSON for each record",
            run_journal_dump},
    Command{"journal repair", "Cut a damaged journal off where the damage begins", run_journal_repair},
    Command{"load chat", "Drive a server with pairs of people and report latency and cost", run_load_chat},
    Command{"load visits", "Visitors who connect, say one thing and go, again and again", run_load_visits},
    Command{"load fanout", "One message to a visitor with many connections, again and again",
            run_load_fanout},
    Command{"load idle", "Hold idle visitors on a server", run_load_idle},
    Command{"load floor", "Run a bare relay, the floor that a gateway is compared with", run_load_floor},
    Command{"sim", "Run the server in a simulated world of faults and look for what is lost", run_sim},
    Command{"version", "Print the version", run_version},
};

std::string overview() {
  std::string text =
      "Usage: taut COMMAND [--key value]...\n\n"
      "A message gateway whose slowest message is nearly as fast as its median.\n\nCommands:\n";
  for (const Command& command : kCommands) {
    std::string line = "  " + std::string(command.name);
    line.resize(18, ' ');
    text += line + std::string(command.summary) + "\n";
  }
  return text +
         "  help COMMAND    Explain a command; the same as taut COMMAND --help\n\n"
         "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 a measurement that must not be used.\n";
}

/// How many of the arguments are the command's name; 0 when they are not.
size_t words_of(const Command& command, Arguments arguments) {
  const size_t space = command.name.find(' ');
  if (arguments.empty() || arguments[0] != command.name.substr(0, space)) return 0;
  if (space == std::string_view::npos) return 1;
  return arguments.size() > 1 && arguments[1] == command.name.substr(space + 1) ? 2 : 0;
}

int unknown(Arguments arguments) {
  std::string given = arguments[0];
  const bool first_word_known = std::ranges::any_of(
      kCommands, [&](const Command& command) { return command.name.starts_with(given + " "); });
  if (first_word_known && arguments.size() > 1 && !std::string_view(arguments[1]).starts_with("-"))
    given += " " + std::string(arguments[1]);
  std::vector<std::string_view> names{"help"};
  std::string below;
  for (const Command& command : kCommands) {
    names.push_back(command.name);
    if (command.name.starts_with(given + " "))
      below += (below.empty() ? "" : ", ") + std::string(command.name);
  }
  if (!below.empty()) return complain("taut", given + " needs a second word: " + below, kExitUsage);
  const std::string_view near = nearest(given, names);
  const std::string remedy =
      near.empty() ? std::string("; taut help lists them") : "; did you mean taut " + std::string(near) + "?";
  return complain("taut", "unknown command " + given + remedy, kExitUsage);
}

int dispatch(Arguments arguments) {
  const bool help_word = !arguments.empty() && arguments[0] == std::string_view("help");
  const bool help_flag = !arguments.empty() && (arguments[0] == std::string_view("--help") ||
                                                arguments[0] == std::string_view("-h"));
  if (help_flag || (help_word && arguments.size() == 1)) {
    std::fputs(overview().c_str(), stdout);
    return kExitOk;
  }
  if (arguments.empty()) {
    std::fputs(overview().c_str(), stderr);
    return kExitUsage;
  }
  if (arguments[0] == std::string_view("--version")) return run_version({});
  if (help_word) arguments = arguments.subspan(1);
  for (const Command& command : kCommands) {
    const size_t words = words_of(command, arguments);
    if (words == 0) continue;
    static constexpr const char* kHelp[] = {"--help"};
    return command.run(help_word ? Arguments(kHelp) : arguments.subspan(words));
  }
  return unknown(arguments);
}

}  // namespace
}  // namespace taut

int main(int argc, char** argv) {
  return taut::dispatch({argv + std::min(argc, 1), argv + argc});
}
