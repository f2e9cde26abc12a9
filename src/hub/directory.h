// All endpoints of one shard, found by identity or by handle.
#pragma once

#include <memory>
#include <string_view>

#include "base/slot_map.h"
#include "hub/endpoint.h"

namespace taut::hub {

/// Owner thread only. The index is reserved at its limit, so that it never rehashes while messages flow.
class Directory {
 public:
  /// At most `endpoints_max` identities at once on this shard, those in their grace included.
  Directory(uint32_t shard, uint32_t endpoints_max);
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  /// The identity's endpoint, made if there is none; nullptr when the limit is reached.
  [[nodiscard]] Endpoint* find_or_create(Role role, std::string_view id);
  [[nodiscard]] Endpoint* find(Role role, std::string_view id);
  [[nodiscard]] Endpoint* find(Handle handle) { return endpoints_.find(handle); }

  /// It is kept only as long as there is room for newcomers. Ends when find_or_create() gives it again.
  void rest(Endpoint& endpoint) { resting_.push_back(endpoint); }
  /// The one that has rested longest; nullptr when nobody does.
  [[nodiscard]] Endpoint* oldest_resting() { return resting_.empty() ? nullptr : &resting_.front(); }

  /// REQUIRES: no connection of it is left and its grace timer is not armed.
  void erase(Endpoint& endpoint);

  /// Calls fn(endpoint) for every endpoint.
  template <class F>
  void for_each(F&& fn) {
    endpoints_.for_each([&fn](Handle, Endpoint& endpoint) { fn(endpoint); });
  }

  [[nodiscard]] uint32_t size() const { return endpoints_.size(); }

 private:
  struct Index;
  using Resting = boost::intrusive::list<
      Endpoint, boost::intrusive::member_hook<Endpoint, decltype(Endpoint::rest_hook), &Endpoint::rest_hook>,
      boost::intrusive::constant_time_size<false>>;
  SlotMap<Endpoint> endpoints_;
  std::unique_ptr<Index> index_;
  Resting resting_;
  uint32_t endpoints_max_;
};

}  // namespace taut::hub
