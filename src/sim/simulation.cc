#include "sim/simulation.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "sim/world.h"

namespace taut::sim {

namespace {

constexpr std::string_view kAborted = "the process goes on";

/// What a process of its own says of its run: a line, and the violation's two texts behind it.
std::string report(const Outcome& outcome) {
  std::string text = std::to_string(outcome.steps) + " " + std::to_string(outcome.hash) + " " +
                     std::to_string(outcome.durable_acks) + " " + std::to_string(outcome.items) + " " +
                     std::to_string(outcome.crashes) + "\n";
  if (outcome.violation) text += outcome.violation->name + "\n" + outcome.violation->what;
  return text;
}

Outcome read_report(const std::string& text) {
  Outcome outcome;
  unsigned long long steps = 0;
  unsigned long long hash = 0;
  unsigned long long acks = 0;
  unsigned long long items = 0;
  if (std::sscanf(text.c_str(), "%llu %llu %llu %llu %u", &steps, &hash, &acks, &items, &outcome.crashes) !=
      5) {
    outcome.violation = {std::string(kAborted), "an assertion failed, or the process crashed"};
    return outcome;
  }
  outcome.steps = steps;
  outcome.hash = hash;
  outcome.durable_acks = acks;
  outcome.items = items;
  const size_t name = text.find('\n') + 1;
  const size_t what = text.find('\n', name);
  if (what != std::string::npos) outcome.violation = {text.substr(name, what - name), text.substr(what + 1)};
  return outcome;
}

}  // namespace

std::vector<Action> actions_of(uint64_t seed, uint64_t steps) {
  Dice dice(seed ^ 0xAC71'0115ULL);
  const Weather weather = seed % 10 == 0 ? Weather::fair : Weather::foul;
  std::vector<Action> actions;
  actions.reserve(steps);
  while (actions.size() < steps) actions.push_back(draw(dice, weather));
  return actions;
}

Outcome run(uint64_t seed, const std::vector<Action>& actions,
            const std::function<void(uint64_t, const std::string&)>& tell) {
  World world(seed);
  if (tell) world.write_down_what_they_hear();
  Outcome outcome;
  for (const Action& action : actions) {
    if (world.violation()) break;
    const std::string did = world.apply(action);
    ++outcome.steps;
    if (tell && !did.empty()) tell(outcome.steps, did);
  }
  if (!world.violation()) {
    const std::string heard = world.finish();
    if (tell) tell(outcome.steps, "the last reading" + heard);
  }
  outcome.hash = world.hash();
  outcome.durable_acks = world.oracle().durable_acks();
  outcome.items = world.oracle().items();
  outcome.crashes = world.crashes();
  outcome.violation = world.violation();
  return outcome;
}

Outcome run_apart(uint64_t seed, const std::vector<Action>& actions) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) end_process("the simulator: no pipe");
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) end_process("the simulator: no process");
  if (child == 0) {
    ::close(pipe[0]);
    const std::string text = report(run(seed, actions));
    const bool told = ::write(pipe[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(told ? 0 : 1);
  }
  ::close(pipe[1]);
  std::string text;
  std::array<char, 4'096> some;
  for (ssize_t n = 0; (n = ::read(pipe[0], some.data(), some.size())) > 0;)
    text.append(some.data(), static_cast<size_t>(n));
  ::close(pipe[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return read_report(text);
}

std::vector<Action> shrink(uint64_t seed, std::vector<Action> actions, const Violation& violation,
                           uint32_t runs) {
  const auto still_fails = [&](const std::vector<Action>& fewer) {
    const Outcome outcome = run_apart(seed, fewer);
    return outcome.violation && outcome.violation->name == violation.name;
  };
  size_t chunk = std::max<size_t>(actions.size() / 2, 1);
  while (runs > 0) {
    bool shorter = false;
    for (size_t end = actions.size(); end > 0 && runs > 0;) {
      const size_t begin = end - std::min(end, chunk);
      std::vector<Action> fewer = actions;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(begin),
                  fewer.begin() + static_cast<std::ptrdiff_t>(end));
      --runs;
      end = begin;
      if (!still_fails(fewer)) continue;
      actions = std::move(fewer);
      shorter = true;
    }
    if (chunk == 1 && !shorter) break;
    chunk = std::max<size_t>(chunk / 2, 1);
  }
  return actions;
}

}  // namespace taut::sim
