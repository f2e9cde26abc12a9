#include "gateway/blocked_visitors.h"

namespace taut::gateway {

void BlockedVisitors::block(std::string_view id, int64_t until_ns) {
  unblock(id);
  if (until_.size() >= most_) unblock(ends_.begin()->second);
  const auto it = until_.emplace(id, until_ns).first;
  ends_.emplace(until_ns, it->first);
}

void BlockedVisitors::unblock(std::string_view id) {
  if (const auto it = until_.find(id); it != until_.end()) forget(it);
}

bool BlockedVisitors::blocks(std::string_view id, int64_t now_ns) {
  const auto it = until_.find(id);
  if (it == until_.end()) return false;
  if (now_ns < it->second) return true;
  forget(it);
  return false;
}

void BlockedVisitors::forget(Until::iterator it) {
  ends_.erase({it->second, it->first});
  until_.erase(it);
}

}  // namespace taut::gateway
