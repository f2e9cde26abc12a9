#include "core/parker.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace taut {
namespace {

using Strategy = WaitOptions::Strategy;
constexpr std::array<std::pair<std::string_view, Strategy>, 3> kStrategies = {{
    {"adaptive", Strategy::adaptive},
    {"park", Strategy::park},
    {"busy", Strategy::busy},
}};

/// Shorter gaps are work that was there already when the turn ended, not idle periods.
constexpr int64_t kIdleNsMin = 1'000;

}  // namespace

Result<WaitOptions> parse_wait(std::string_view name) {
  std::string known;
  for (const auto& [known_name, strategy] : kStrategies) {
    if (known_name == name) return WaitOptions{.strategy = strategy};
    known += known.empty() ? "" : ", ";
    known += known_name;
  }
  return fail("wait strategy \"" + std::string(name) + "\" is not one of: " + known);
}

std::string_view format_wait(const WaitOptions& options) {
  const auto found =
      std::ranges::find(kStrategies, options.strategy, &std::pair<std::string_view, Strategy>::second);
  return found == kStrategies.end() ? "unknown" : found->first;
}

Parker::Parker(const WaitOptions& options, const SpinGate::Options& gate, GateSource* source)
    : strategy_(options.strategy), gate_(gate), source_(source) {}

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
  if (strategy_ == Strategy::busy) {
    allowed_ns_ = INT64_MAX;
    return;
  }
  if (strategy_ == Strategy::park || budget_.budget_ns() == 0) {
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
