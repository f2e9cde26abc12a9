#include "core/cycle_clock.h"

#include <ctime>
#include <fstream>
#include <string>

namespace taut {
namespace {

constexpr int64_t kCalibrationNs = 10'000'000;
constexpr int kFractionBits = 32;

int64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool counter_is_constant() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("flags")) continue;
    return line.find(" constant_tsc") != std::string::npos && line.find(" nonstop_tsc") != std::string::npos;
  }
  return false;
}

}  // namespace

int64_t CycleClock::kernel_now_ns() noexcept {
  return monotonic_ns();
}

CycleClock CycleClock::calibrate() {
  CycleClock clock;
  if (!counter_is_constant()) return clock;
  // A preemption between the two readings of one end would tilt the scale: take the tightest of several
  // pairs.
  struct Pair {
    int64_t ns = 0;
    uint64_t cycles = 0;
  };
  const auto tightest_pair = [] {
    constexpr int kTries = 16;
    Pair best;
    int64_t best_width_ns = INT64_MAX;
    for (int i = 0; i < kTries; ++i) {
      const int64_t before = monotonic_ns();
      const uint64_t cycles = read_counter();
      const int64_t width_ns = monotonic_ns() - before;
      if (width_ns >= best_width_ns) continue;
      best_width_ns = width_ns;
      best = {before + width_ns / 2, cycles};
    }
    return best;
  };
  const Pair first = tightest_pair();
  while (monotonic_ns() - first.ns < kCalibrationNs) {
  }
  const Pair second = tightest_pair();
  if (second.cycles <= first.cycles) return clock;  // a counter that does not count
  clock.scale_ =
      (static_cast<uint64_t>(second.ns - first.ns) << kFractionBits) / (second.cycles - first.cycles);
  clock.origin_ = first.cycles;
  return clock;
}

const CycleClock& CycleClock::machine() {
  static const CycleClock kClock = calibrate();
  return kClock;
}

}  // namespace taut
