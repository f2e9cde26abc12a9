// The server: builds everything, runs it until a signal, takes it down.
#pragma once

#include "gateway/settings.h"

namespace taut::gateway {

/// Returns the exit code of `taut serve`: 0 after SIGTERM or SIGINT, another when it cannot start (the reason
/// is on standard error). Prints the one line of standard output when it is ready.
[[nodiscard]] int serve(const Settings& settings);

}  // namespace taut::gateway
