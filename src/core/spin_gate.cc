#include "core/spin_gate.h"

#include <algorithm>

namespace taut {

SpinGate::Options SpinGate::options_for(uint32_t spinner, uint32_t usable_cores) {
  constexpr int64_t kOneCoreWindowNs = 200'000'000;
  constexpr int64_t kEarnedAfterNs = 1'000'000'000;
  if (usable_cores <= 1) {
    return {.window_ns = kOneCoreWindowNs,
            .hold_min_ns = kOneCoreWindowNs,
            .hold_max_ns = kOneCoreWindowNs,
            .clean_before_ns = kOneCoreWindowNs};
  }
  return {.clean_before_ns = spinner < usable_cores - 1 ? 0 : kEarnedAfterNs};
}

void SpinGate::feed(const GateReading& reading) noexcept {
  if (fed_ == 0 && options_.clean_before_ns > 0) closed_until_ns_ = reading.at_ns + options_.clean_before_ns;
  readings_[fed_++ % kReadings] = reading;
  next_reading_ns_ = reading.at_ns + kReadEveryNs;
  if (clean(oldest_in_window(reading.at_ns), reading)) return;
  if (closures_ == 0 && !open(reading.at_ns)) {
    closed_until_ns_ = reading.at_ns + options_.clean_before_ns;  // still earning its first opening
  } else if (open(reading.at_ns)) {
    close(reading.at_ns);
  }
}

const GateReading& SpinGate::oldest_in_window(int64_t now_ns) const noexcept {
  // Readings pause while the thread is parked: what lies further back than the window says nothing about now.
  const uint64_t kept = std::min<uint64_t>(fed_, kReadings);
  for (uint64_t i = fed_ - kept; i < fed_; ++i) {
    const GateReading& reading = readings_[i % kReadings];
    if (now_ns - reading.at_ns <= options_.window_ns) return reading;
  }
  return readings_[(fed_ - 1) % kReadings];
}

bool SpinGate::clean(const GateReading& oldest, const GateReading& newest) const noexcept {
  if (newest.throttled > oldest.throttled) return false;
  const int64_t lost_ns_max = options_.window_ns * kLostPercentMax / 100;
  if (newest.run_delay_ns - oldest.run_delay_ns > lost_ns_max) return false;
  // Ticks are of all processors together: the share of them, applied to the time between the readings.
  const auto total = static_cast<double>(newest.total_ticks - oldest.total_ticks);
  if (total <= 0 || newest.steal_ticks <= oldest.steal_ticks) return true;
  const double share = static_cast<double>(newest.steal_ticks - oldest.steal_ticks) / total;
  return share * static_cast<double>(newest.at_ns - oldest.at_ns) <= static_cast<double>(lost_ns_max);
}

void SpinGate::close(int64_t now_ns) noexcept {
  const bool relapse = closures_ > 0 && now_ns - closed_until_ns_ < kRelapseNs;
  hold_ns_ = relapse ? std::min(hold_ns_ * 2, options_.hold_max_ns) : options_.hold_min_ns;
  closed_until_ns_ = now_ns + hold_ns_;
  ++closures_;
}

}  // namespace taut
