// A short wait for something that another running thread is about to do.
//
// Rungs of 1, 2, 4 and 7 units of busy waiting, 14 units (0.56 µs) in all, then yields. A unit is measured,
// not a number of pause instructions: one pause takes from 5 ns to 50 ns depending on the processor.
#pragma once

#include <array>
#include <cstdint>

namespace taut {

/// How long one unit of the ladder lasts.
inline constexpr int64_t kSpinUnitNs = 40;
/// The ladder, in units.
inline constexpr std::array<uint32_t, 4> kSpinRungs = {1, 2, 4, 7};

/// Busy-waits for `units` × kSpinUnitNs, within the accuracy of the pause instruction. Never enters the
/// kernel.
void spin_pause(uint32_t units) noexcept;
/// Pause instructions per unit on this machine, measured once (20 µs) at the first call; at least 1.
[[nodiscard]] uint32_t pauses_per_unit() noexcept;

/// A value: make one where the wait begins, call spin_once() each time the condition was found false, start
/// again by assigning `= SpinWait{}`. Shards take only its rungs (idle_ladder.h); this is for threads that
/// are none.
class SpinWait {
 public:
  static constexpr uint32_t kNeverSleep = UINT32_MAX;
  /// What spin_once() sleeps once it is allowed to.
  static constexpr int64_t kSleepNs = 1'000'000;

  /// One rung of pauses; after the last rung a yield; from call number `sleep_after` on a sleep of kSleepNs.
  void spin_once(uint32_t sleep_after = kNeverSleep) noexcept;

  /// True when the next spin_once() gives the processor away: for the first time exactly before the first
  /// yield.
  [[nodiscard]] bool next_will_yield() const { return count_ >= kSpinRungs.size(); }
  /// Calls of spin_once() since the start.
  [[nodiscard]] uint32_t count() const { return count_; }

 private:
  uint32_t count_ = 0;
};

}  // namespace taut
