// What a thread that does not park does between two looks for work: pause, yield, or a blind sleep.
//
// Our own strategies only pause: 1, 2, 4, 7 units, and again from 1, for as long as the parker lets them. The
// ladders of other programs are here to be compared with. They never park; they sleep instead, with nobody
// who could wake them, and what arrives meanwhile waits for the end of that sleep:
//
//   yield    after the first four rungs gives its processor away before every look
//   dotnet   .NET's SpinWait.SpinOnce() as its runtime has it on more than one processor: calls 0 … 9 spin
//            1, 2, 4, 7, 7 … units (there of 37 ns); then calls with an even number yield and those with an
//            odd one spin 7 units; every fifth yield is Thread.Sleep(0), which on Linux is a yield as well;
//            from call 20 on each one is Thread.Sleep(1), 1 ms. That is 3.6 µs of spinning in all before the
//            first of them
//   backoff  four rungs, five yields, then sleeps of 1, 2, 4 … 512 µs, 1 ms
#pragma once

#include <cstdint>

#include "core/wait_options.h"

namespace taut {

/// One step.
struct IdleStep {
  enum class Kind : uint8_t { pause, yield, sleep };
  Kind kind = Kind::pause;
  int64_t amount = 0;  ///< pauses: units of kSpinUnitNs; sleeps: nanoseconds
  friend bool operator==(const IdleStep&, const IdleStep&) = default;
};

/// A value, one thread, pure. No step is longer than kSleepNsMax, so a stop is seen in time.
class IdleLadder {
 public:
  static constexpr int64_t kSleepNsMax = 1'000'000;

  explicit IdleLadder(WaitOptions::Strategy strategy) : strategy_(strategy) {}

  /// Work was found: the next idle period begins at the first rung.
  void restart() noexcept { step_ = 0; }
  [[nodiscard]] IdleStep next() noexcept;

 private:
  const WaitOptions::Strategy strategy_;
  uint32_t step_ = 0;
};

/// Does it. A sleep is blind: neither mail nor sockets end it.
void take(const IdleStep& step) noexcept;

}  // namespace taut
