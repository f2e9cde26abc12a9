// `taut serve`: runs the gateway until it is told to stop.
#include "gateway/serve.h"

#include "gateway/settings.h"
#include "main/command.h"

namespace taut {

int run_serve(Arguments arguments) {
  gateway::Settings settings;
  Config config = gateway::serve_config(settings);
  int exit_code = kExitOk;
  if (!read_settings(config, "taut serve", arguments, exit_code)) return exit_code;
  if (!accept_settings(gateway::check(settings), "taut serve", exit_code)) return exit_code;
  return gateway::serve(settings);
}

}  // namespace taut
