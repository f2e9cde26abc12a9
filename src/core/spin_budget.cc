#include "core/spin_budget.h"

#include <algorithm>
#include <bit>

namespace taut {

void SpinBudget::record_gap(int64_t gap_ns) noexcept {
  const auto gap = static_cast<uint64_t>(std::max<int64_t>(gap_ns, 1));
  const auto bucket = static_cast<uint32_t>(std::bit_width(gap) - 1);
  ++gaps_[std::min(bucket, kBuckets - 1)];
  if (++periods_ < kPeriodsPerChoice) return;
  periods_ = 0;
  choose();
  for (uint32_t& count : gaps_) count /= 2;
}

void SpinBudget::record_wake_cost(int64_t cost_ns) noexcept {
  costs_ns_[costs_seen_ % kCostSamples] = std::clamp(cost_ns, kWakeCostNsMin, kWakeCostNsMax);
  ++costs_seen_;
  // A median, because single wakes include other people's time slices.
  std::array<int64_t, kCostSamples> sorted = costs_ns_;
  const auto seen = std::min(costs_seen_, kCostSamples);
  const auto middle = sorted.begin() + seen / 2;
  std::nth_element(sorted.begin(), middle, sorted.begin() + seen);
  wake_cost_ns_ = *middle;
  budget_ns_ = std::min(budget_ns_, kWakeCostsMax * wake_cost_ns_);
}

double SpinBudget::expected_cost(double budget_ns) const noexcept {
  // Gaps are taken as evenly spread within their bucket.
  const double price = 1.0 / static_cast<double>(kLatencyPerCpu);
  const double parked = price * budget_ns + static_cast<double>(wake_cost_ns_);
  double cost = 0;
  for (uint32_t k = 0; k < kBuckets; ++k) {
    const auto low = static_cast<double>(uint64_t{1} << k);
    const double covered =
        std::clamp((budget_ns - low) / low, 0.0, 1.0);      // share of the bucket within budget
    const double spun = price * (low + low * covered / 2);  // the mean gap of that share
    cost += static_cast<double>(gaps_[k]) * (covered * spun + (1 - covered) * parked);
  }
  return cost;
}

void SpinBudget::choose() noexcept {
  const int64_t limit_ns = kWakeCostsMax * wake_cost_ns_;
  int64_t best_ns = 0;
  double best_cost = expected_cost(0);
  const auto consider = [&](int64_t budget_ns) {
    const double cost = expected_cost(static_cast<double>(budget_ns));
    if (cost >= best_cost) return;  // of equals the shorter spin
    best_cost = cost;
    best_ns = budget_ns;
  };
  for (uint32_t k = 0; k < kBuckets; ++k) {
    const auto upper_ns = static_cast<int64_t>(uint64_t{2} << k);
    if (upper_ns >= limit_ns) break;
    consider(upper_ns);
  }
  consider(limit_ns);
  budget_ns_ = best_ns;
}

}  // namespace taut
