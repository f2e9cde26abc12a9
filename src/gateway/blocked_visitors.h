// Visitors who may not come in for a while.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace taut::gateway {

/// Those of one shard, its thread only. Looked at by hello and by nothing that is on the way of a message.
class BlockedVisitors {
 public:
  static constexpr uint32_t kMax = 16'384;
  static constexpr uint32_t kSecondsDefault = 86'400;

  explicit BlockedVisitors(uint32_t most = kMax) : most_(most) {}

  /// Until `until_ns` of the monotonic clock, whatever was said of this visitor before. Where there are
  /// `most`, the block that ends first makes room.
  void block(std::string_view id, int64_t until_ns);
  void unblock(std::string_view id);
  /// Forgets a block that is over.
  [[nodiscard]] bool blocks(std::string_view id, int64_t now_ns);
  /// Those that are over and not yet forgotten included.
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(until_.size()); }

 private:
  using Until = std::map<std::string, int64_t, std::less<>>;
  void forget(Until::iterator it);

  uint32_t most_;
  Until until_;
  std::set<std::pair<int64_t, std::string_view>> ends_;  ///< the ids are the keys of until_
};

}  // namespace taut::gateway
