// The ways in which an idle thread can wait, by name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/assert.h"

namespace taut {

/// How a thread waits for work.
struct WaitOptions {
  enum class Strategy : uint8_t {
    adaptive,  ///< spin as long as spinning is cheaper than being woken, then park
    park,  ///< park at once: the least CPU, a wake (tens of microseconds) before every message after a pause
    busy,  ///< never park: a core for ever, for dedicated machines and measurements
    spin_park,  ///< spin for spin_ns whatever happens, then park
    yield,      ///< never park, give the processor away between looks
    dotnet,     ///< .NET's SpinWait, for comparison (idle_ladder.h)
    backoff,    ///< sleeps that double, for comparison (idle_ladder.h)
  };
  /// Of the strategies, in their order.
  static constexpr std::array<std::string_view, 7> kNames = {"adaptive", "park",   "busy",   "spin_park",
                                                             "yield",    "dotnet", "backoff"};

  Strategy strategy = Strategy::adaptive;
  /// Under spin_park only. Whoever spins as long as a wake costs (25 µs is what we assume of one) never pays
  /// more than twice the best that was possible.
  int64_t spin_ns = 25'000;
  /// What the process may use; decides how many spin to begin with. 0: ask the host when the shard starts.
  uint32_t usable_cores = 0;
};

[[nodiscard]] constexpr std::string_view name_of(WaitOptions::Strategy strategy) {
  const auto index = static_cast<size_t>(strategy);
  TAUT_ASSERT(index < WaitOptions::kNames.size());
  return WaitOptions::kNames[index];
}

}  // namespace taut
