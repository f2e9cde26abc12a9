// How long spinning pays: chosen from the idle gaps that were seen and the measured price of being woken.
//
// An idle period of length g costs w·g if we spin through it, and w·b + C if we spin for b, give up, park and
// are woken at the price C. Given the distribution of gaps, the b with the least expected cost is the budget.
#pragma once

#include <array>
#include <cstdint>

namespace taut {

/// Gaps in a decayed log2 histogram, the wake cost as a running median, the budget that follows. Pure; one
/// thread.
class SpinBudget {
 public:
  /// Idle periods between two choices; after each the histogram is halved.
  static constexpr uint32_t kPeriodsPerChoice = 256;
  /// The budget never exceeds this many wake costs.
  static constexpr int64_t kWakeCostsMax = 4;
  /// Price of a nanosecond of spinning, as a fraction 1/n of a nanosecond of latency: spinning through a
  /// steady gap pays up to n wake costs.
  static constexpr int64_t kLatencyPerCpu = 4;
  /// Measured wake costs are clamped to this: below is a measuring error, above is somebody else's time
  /// slice.
  static constexpr int64_t kWakeCostNsMin = 1'000;
  static constexpr int64_t kWakeCostNsMax = 100'000;
  static constexpr int64_t kWakeCostNsAssumed = 25'000;

  /// An idle period ended after gap_ns (spun or parked, all of it).
  void record_gap(int64_t gap_ns) noexcept;
  /// A wake took this long from the moment it was due to the moment the thread ran.
  void record_wake_cost(int64_t cost_ns) noexcept;

  [[nodiscard]] int64_t budget_ns() const noexcept { return budget_ns_; }
  [[nodiscard]] int64_t wake_cost_ns() const noexcept { return wake_cost_ns_; }

 private:
  static constexpr uint32_t kBuckets =
      40;  ///< bucket k holds gaps of [2^k, 2^(k+1)) ns; the last all above 9 min
  static constexpr uint32_t kCostSamples = 15;

  void choose() noexcept;
  [[nodiscard]] double expected_cost(double budget_ns) const noexcept;

  std::array<uint32_t, kBuckets> gaps_{};
  std::array<int64_t, kCostSamples> costs_ns_{};
  uint32_t costs_seen_ = 0;
  uint32_t periods_ = 0;
  int64_t wake_cost_ns_ = kWakeCostNsAssumed;
  int64_t budget_ns_ = kWakeCostNsAssumed;
};

}  // namespace taut
