#include "main/command.h"

#include <cstdio>
#include <string>

namespace taut {

namespace {

void print(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
}

}  // namespace

int complain(std::string_view command, std::string_view message, int code) {
  print(stderr, std::string(command) + ": " + std::string(message) + "\n");
  return code;
}

bool read_settings(Config& config, std::string_view command, Arguments arguments, int& exit_code) {
  const auto asked = config.load(arguments);
  if (!asked) {
    exit_code = complain(command, asked.error().message, kExitUsage);
    return false;
  }
  exit_code = kExitOk;
  if (*asked == Config::Ask::help) print(stdout, config.help());
  if (*asked == Config::Ask::help_markdown) print(stdout, config.help_markdown());
  return *asked == Config::Ask::run;
}

bool accept_settings(const Status& checked, std::string_view command, int& exit_code) {
  if (!checked) exit_code = complain(command, checked.error().message, kExitUsage);
  return checked.has_value();
}

}  // namespace taut
