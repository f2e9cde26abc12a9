// How the program ends, whichever command it ran.
#pragma once

namespace taut {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;  ///< the host or the peer refused
inline constexpr int kExitUsage =
    2;  ///< the command line, the settings file or a file that they name is wrong
/// A measurement ran but must not be used: the generator could not keep its own schedule, or a message was
/// lost, doubled, reordered or damaged.
inline constexpr int kExitVoid = 3;

}  // namespace taut
