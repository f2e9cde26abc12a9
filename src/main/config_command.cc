// `taut config`: shows what `taut serve` would run with, and why.
#include <cstdio>
#include <string>

#include "gateway/settings.h"
#include "main/command.h"

namespace taut {

int run_config(Arguments arguments) {
  gateway::Settings settings;
  Config config = gateway::serve_config(settings);
  int exit_code = kExitOk;
  if (!read_settings(config, "taut config", arguments, exit_code)) return exit_code;
  if (!accept_settings(gateway::check(settings), "taut config", exit_code)) return exit_code;
  std::fputs(config.effective().c_str(), stdout);
  return kExitOk;
}

}  // namespace taut
