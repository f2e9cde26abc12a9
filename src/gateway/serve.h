// The server: builds everything, runs it until a signal, takes it down.
#pragma once

#include "gateway/settings.h"

namespace taut::gateway {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  ///< the host refuses what the server needs
inline constexpr int kExitUsage = 2;   ///< a setting names a file that is no secret

/// Returns the exit code of `taut serve`: 0 after SIGTERM or SIGINT, another when it cannot start (the reason
/// is on standard error). Prints the one line of standard output when it is ready.
[[nodiscard]] int serve(const Settings& settings);

}  // namespace taut::gateway
