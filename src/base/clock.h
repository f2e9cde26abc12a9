// Time as a dependency: production reads the kernel, a simulator turns its own hands.
#pragma once

#include <cstdint>

namespace taut {

inline constexpr int64_t kHourMs = 3'600'000;
inline constexpr int64_t kDayMs = 24 * kHourMs;

/// Both readings, one object per process or per simulation; safe from any thread.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// Nanoseconds that never go back (CLOCK_MONOTONIC); the only clock for intervals.
  [[nodiscard]] virtual int64_t mono_ns() noexcept = 0;
  /// Milliseconds since 1970 for people and protocol fields; may jump, never used for intervals.
  [[nodiscard]] virtual int64_t wall_ms() noexcept = 0;
};

/// The kernel's clocks.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] int64_t mono_ns() noexcept override;
  [[nodiscard]] int64_t wall_ms() noexcept override;
};

/// A clock that a test or the simulator moves by hand. One thread.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] int64_t mono_ns() noexcept override { return mono_ns_; }
  [[nodiscard]] int64_t wall_ms() noexcept override { return wall_base_ms_ + mono_ns_ / 1'000'000; }
  void advance_ns(int64_t delta_ns) noexcept { mono_ns_ += delta_ns; }

 private:
  int64_t mono_ns_ = 1'000'000'000;
  int64_t wall_base_ms_ = 1'700'000'000'000;
};

}  // namespace taut
