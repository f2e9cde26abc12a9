#include "sim/blocks.h"

#include <algorithm>
#include <functional>

namespace taut::sim {

namespace {

constexpr int64_t kNever = INT64_MAX;
constexpr int64_t kNsOfMs = 1'000'000;
/// Milliseconds are rounded once on each side.
constexpr int64_t kRoundingNs = 2 * kNsOfMs;

}  // namespace

Blocks::End Blocks::end_in(uint32_t seconds) const {
  return {.mono_ns = clock_.mono_ns() + int64_t{seconds} * 1'000 * kNsOfMs,
          .wall_ms = clock_.wall_ms() + int64_t{seconds} * 1'000};
}

void Blocks::widen(Visitor& visitor) {
  const auto earlier = [](End& end, const End& other) {
    end = {.mono_ns = std::min(end.mono_ns, other.mono_ns), .wall_ms = std::min(end.wall_ms, other.wall_ms)};
  };
  const auto later = [](End& end, const End& other) {
    end = {.mono_ns = std::max(end.mono_ns, other.mono_ns), .wall_ms = std::max(end.wall_ms, other.wall_ms)};
  };
  earlier(visitor.over_crash.blocked_until, visitor.bounds.blocked_until);
  later(visitor.over_crash.free_from, visitor.bounds.free_from);
}

Blocks::Order Blocks::asked(std::string_view id, uint32_t seconds) {
  Visitor& visitor = visitors_[std::string(id)];
  const End at_least = seconds == 0 ? End{} : end_in(seconds);
  End& blocked = visitor.bounds.blocked_until;
  blocked = {.mono_ns = std::min(blocked.mono_ns, at_least.mono_ns),
             .wall_ms = std::min(blocked.wall_ms, at_least.wall_ms)};
  if (seconds != 0) visitor.bounds.free_from = {.mono_ns = kNever, .wall_ms = kNever};
  widen(visitor);
  const uint64_t number = ++orders_;
  const bool alone = visitor.pending.empty();
  for (auto& [other, pending] : visitor.pending) pending.alone = false;
  visitor.pending[number] = {.asked = end_in(seconds), .seconds = seconds, .jumps = jumps_, .alone = alone};
  return {.visitor = std::string(id), .number = number};
}

void Blocks::answered(const Order& order) {
  Visitor& visitor = visitors_[order.visitor];
  const auto found = visitor.pending.find(order.number);
  if (found == visitor.pending.end()) return;
  const Pending pending = found->second;
  visitor.pending.erase(found);
  if (!pending.alone) return;
  visitor.since = ++orders_;
  if (pending.seconds == 0) {
    visitor.bounds = {};
  } else {
    visitor.bounds = {.blocked_until = pending.asked, .free_from = end_in(pending.seconds)};
    if (pending.jumps != jumps_) {
      visitor.bounds.blocked_until.wall_ms = 0;
      visitor.bounds.free_from.wall_ms = kNever;
    }
  }
  widen(visitor);
}

void Blocks::at_rest() {
  for (auto& [id, visitor] : visitors_) {
    visitor.pending.clear();
    visitor.over_crash = visitor.bounds;
  }
}

void Blocks::ended(bool clean) {
  const int64_t wall_ms = clock_.wall_ms();
  const auto by_the_wall = [&](End& end) {
    if (end.wall_ms == 0) {
      end.mono_ns = 0;
    } else if (end.wall_ms == kNever) {
      end.mono_ns = kNever;
    } else {
      end.mono_ns = clock_.mono_ns() + (end.wall_ms - wall_ms) * kNsOfMs;
    }
  };
  for (auto& [id, visitor] : visitors_) {
    visitor.pending.clear();
    if (!clean) visitor.bounds = visitor.over_crash;
    by_the_wall(visitor.bounds.blocked_until);
    by_the_wall(visitor.bounds.free_from);
    visitor.over_crash = visitor.bounds;
  }
}

void Blocks::let_in(std::string_view id, const Moment& began) const {
  const auto found = visitors_.find(id);
  if (found == visitors_.end() || found->second.since > began.orders) return;
  const int64_t until_ns = found->second.bounds.blocked_until.mono_ns;
  if (clock_.mono_ns() + kRoundingNs >= until_ns) return;
  oracle_.complain("who is blocked stays out", std::string(id) + " is let in, and is blocked for " +
                                                   std::to_string((until_ns - clock_.mono_ns()) / kNsOfMs) +
                                                   " ms more");
}

void Blocks::kept_out(std::string_view id, const Moment& began) const {
  const auto found = visitors_.find(id);
  if (found == visitors_.end()) return oracle_.complain("who is not blocked is let in", std::string(id));
  const Visitor& visitor = found->second;
  const int64_t free_ns = visitor.bounds.free_from.mono_ns;
  if (visitor.since > began.orders || free_ns == kNever || free_ns + kRoundingNs > began.mono_ns) return;
  oracle_.complain("who is not blocked is let in", std::string(id) + " is kept out");
}

}  // namespace taut::sim
