// An identity as its home shard knows it: its connections, and the conversations that it is live for.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle.h"
#include "base/identity.h"
#include "base/slot_map.h"
#include "core/timer_wheel.h"
#include "hub/token_bucket.h"

namespace taut::hub {

/// A conversation that an endpoint takes part in, named twice: by id for people, by handle for rings.
struct Topic {
  Handle key;
  uint32_t owner_epoch = 0;  ///< agents: the assignment that they were told of
  std::string id;
};

/// Lives from the first connection of the identity until its grace has passed (Directory). Home shard's
/// thread only.
struct Endpoint {
  Endpoint(Handle handle, Role r, std::string_view identity) : self(handle), role(r), id(identity) {}

  Handle self;
  Role role;
  std::string id;
  std::string name;
  uint64_t groups = 0;              ///< agents: as the last token said, bit g for group g
  uint32_t capacity = 0;            ///< agents: as the last token said
  bool may_open = true;             ///< visitors: as the last token said
  std::vector<Handle> connections;  ///< open ones, oldest first
  std::vector<Topic> topics;        ///< visitor: unclosed conversations; agent: owned ones
  /// Agents: the most conversations at once that they were ever allowed (token and own word); see Courier.
  uint32_t capacity_max = 0;
  bool presence_said = false;
  TokenBucket sends;
  TokenBucket presence_words;
  Timer grace;
  /// Directory::rest(); leaves its list by itself.
  boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> rest_hook;

  [[nodiscard]] const Topic* topic(std::string_view conversation) const {
    for (const Topic& t : topics) {
      if (t.id == conversation) return &t;
    }
    return nullptr;
  }
  void add_topic(Handle key, uint32_t owner_epoch, std::string_view conversation) {
    remove_topic(key);
    topics.push_back({key, owner_epoch, std::string(conversation)});
  }
  void remove_topic(Handle key) {
    std::erase_if(topics, [key](const Topic& t) { return t.key == key; });
  }
};

}  // namespace taut::hub
