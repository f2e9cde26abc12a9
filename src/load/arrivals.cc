#include "load/arrivals.h"

#include "base/assert.h"

namespace taut::load {

Arrivals::Arrivals(ArrivalKind kind, double per_second, uint32_t flows, uint64_t seed)
    : kind_(kind), gap_ns_(1e9 / per_second), flows_(flows), random_(seed) {
  TAUT_ASSERT(per_second > 0 && flows > 0);
}

Arrival Arrivals::next() {
  if (kind_ == ArrivalKind::even) {
    const uint64_t n = count_++;
    // A product, not a running sum: rounding errors do not add up over a long run.
    return {static_cast<int64_t>(static_cast<double>(n) * gap_ns_), static_cast<uint32_t>(n % flows_)};
  }
  if (kind_ == ArrivalKind::bursts) {
    const uint64_t n = count_++;
    const auto first = n / kBurstMessages * kBurstMessages;  // of its burst
    const auto burst_ns = static_cast<double>(first) * gap_ns_;
    const uint64_t in_burst_ns = n % kBurstMessages * (1'000'000'000 / kBurstRate);
    return {static_cast<int64_t>(burst_ns) + static_cast<int64_t>(in_burst_ns),
            static_cast<uint32_t>(n % flows_)};
  }
  poisson_at_ns_ += std::exponential_distribution<double>(1 / gap_ns_)(random_);
  return {static_cast<int64_t>(poisson_at_ns_),
          std::uniform_int_distribution<uint32_t>(0, flows_ - 1)(random_)};
}

}  // namespace taut::load
