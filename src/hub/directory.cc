#include "hub/directory.h"

#include <boost/unordered/unordered_flat_set.hpp>
#include <functional>

#include "base/assert.h"

namespace taut::hub {

namespace {

/// What the index compares: an endpoint in the table, or a question about one.
struct Key {
  Role role;
  std::string_view id;
};

Key key_of(const Endpoint* e) {
  return {e->role, e->id};
}
Key key_of(const Key& k) {
  return k;
}

struct Hash {
  using is_transparent = void;
  size_t operator()(const auto& value) const {
    const Key k = key_of(value);
    return std::hash<std::string_view>{}(k.id) * 3 + static_cast<size_t>(k.role);
  }
};

struct Equal {
  using is_transparent = void;
  bool operator()(const auto& a, const auto& b) const {
    const Key x = key_of(a);
    const Key y = key_of(b);
    return x.role == y.role && x.id == y.id;
  }
};

}  // namespace

struct Directory::Index {
  boost::unordered_flat_set<Endpoint*, Hash, Equal> by_identity;
};

Directory::Directory(uint32_t shard, uint32_t endpoints_max)
    : endpoints_(shard), index_(std::make_unique<Index>()), endpoints_max_(endpoints_max) {
  index_->by_identity.reserve(endpoints_max);
}

Directory::~Directory() {
  resting_.clear();
}

Endpoint* Directory::find_or_create(Role role, std::string_view id) {
  if (Endpoint* found = find(role, id); found != nullptr) {
    found->rest_hook.unlink();
    return found;
  }
  if (endpoints_.size() >= endpoints_max_) return nullptr;
  Endpoint& made = endpoints_.emplace(role, id);
  index_->by_identity.insert(&made);
  return &made;
}

Endpoint* Directory::find(Role role, std::string_view id) {
  const auto it = index_->by_identity.find(Key{role, id});
  return it == index_->by_identity.end() ? nullptr : *it;
}

void Directory::erase(Endpoint& endpoint) {
  TAUT_ASSERT(endpoint.connections.empty());
  index_->by_identity.erase(&endpoint);
  endpoints_.erase(endpoint.self);
}

}  // namespace taut::hub
