// The time of a simulation: it moves when a step says so, and the wall clock jumps.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace taut::sim {

/// One thread.
class SimClock final : public Clock {
 public:
  [[nodiscard]] int64_t mono_ns() noexcept override { return mono_ns_; }
  [[nodiscard]] int64_t wall_ms() noexcept override { return wall_base_ms_ + mono_ns_ / 1'000'000; }
  void advance_ns(int64_t delta_ns) noexcept { mono_ns_ += delta_ns; }
  /// Somebody sets the clock on the wall; may go back. That takes time: shards read the wall clock once for
  /// each monotonic time that they see.
  void jump_ms(int64_t delta_ms) noexcept {
    wall_base_ms_ += delta_ms;
    advance_ns(1);
  }

 private:
  int64_t mono_ns_ = 1'000'000'000;
  int64_t wall_base_ms_ = 1'700'000'000'000;
};

}  // namespace taut::sim
