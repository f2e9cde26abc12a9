#include "core/parker.h"

namespace taut {
namespace {

/// Shorter gaps are work that was there already when the turn ended, not idle periods.
constexpr int64_t kIdleNsMin = 1'000;

}  // namespace

Parker::Parker(const WaitOptions& options, const SpinGate::Options& gate, GateSource* source)
    : options_(options), gate_(gate), source_(source) {}

void Parker::worked(int64_t now_ns) noexcept {
  if (idle_since_ns_ < 0) return;
  const int64_t gap_ns = now_ns - idle_since_ns_ - (parked_ ? budget_.wake_cost_ns() : 0);
  if (now_ns - idle_since_ns_ >= kIdleNsMin) budget_.record_gap(gap_ns);
  idle_since_ns_ = -1;
}

bool Parker::should_park(int64_t now_ns) noexcept {
  const bool begins = idle_since_ns_ < 0;
  if (begins) {
    idle_since_ns_ = now_ns;
    parked_ = false;
  }
  update_allowed(now_ns, begins);
  parked_ = parked_ || now_ns - idle_since_ns_ >= allowed_ns_;
  return parked_;
}

void Parker::update_allowed(int64_t now_ns, bool idle_begins) noexcept {
  switch (options_.strategy) {
    case WaitOptions::Strategy::park:
      allowed_ns_ = 0;
      return;
    case WaitOptions::Strategy::spin_park:
      allowed_ns_ = options_.spin_ns;
      return;
    case WaitOptions::Strategy::busy:
    case WaitOptions::Strategy::yield:
    case WaitOptions::Strategy::dotnet:
    case WaitOptions::Strategy::backoff:
      allowed_ns_ = INT64_MAX;
      return;
    case WaitOptions::Strategy::adaptive:
      allow_budget(now_ns, idle_begins);
  }
}

void Parker::allow_budget(int64_t now_ns, bool idle_begins) noexcept {
  if (budget_.budget_ns() == 0) {
    allowed_ns_ = 0;
    return;
  }
  // Not between two messages of a burst: the first look after work goes to the sockets. A closed gate has
  // nothing to lose, the thread is about to park.
  const bool may_read = !idle_begins || !gate_.open(now_ns);
  if (source_ != nullptr && may_read && gate_.reading_due(now_ns)) gate_.feed(source_->read(now_ns));
  allowed_ns_ = gate_.open(now_ns) ? budget_.budget_ns() : 0;
}

}  // namespace taut
