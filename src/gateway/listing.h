// A page of `list` as a block that travels: dispatcher, the conversations' shards, and back to who asked.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "chat/dispatcher.h"
#include "core/shard.h"
#include "gateway/conversation_request.h"
#include "gateway/durable_courier.h"
#include "gateway/mails.h"

namespace taut::gateway {

class Conversations;

/// At the front of the block; the entries written so far stand behind it, each with a comma in front.
struct Listing {
  static constexpr uint32_t kEntriesMax = 50;
  /// Of the whole block: entries of usual names fit, a page of long ones is shorter.
  static constexpr uint32_t kBlockBytes = 24 * 1'024;

  Handle asker;  ///< a connection
  chat::InlineId agent;
  chat::ListScope scope = chat::ListScope::mine;
  uint32_t ref = 0;
  uint32_t count = 0;
  uint32_t visited = 0;
  uint64_t after = 0;
  uint64_t next = 0;  ///< the cursor of the next page; 0: there is none
  std::array<chat::Dispatcher::Listed, kEntriesMax> conversations{};
};

/// To the next conversation of the page, or home when all have been visited.
void send_on(Shard& shard, const Listing& listing, Block* block);

/// Both ends of the journey and the stops between, but the dispatcher's. One per shard, its thread only.
class Listings {
 public:
  Listings(Shard& shard, DurableCourier& courier, Conversations& conversations, ShardId dispatcher)
      : shard_(shard), courier_(courier), conversations_(conversations), dispatcher_(dispatcher) {}

  void start(const Requester& agent, chat::ListScope scope, std::string_view cursor);
  /// Writes the entries of conversations that live here.
  void visit(Block* block);
  void finish(Block* block);

 private:
  void refuse(const Listing& listing, wire::ErrorCode code, std::string_view words);

  Shard& shard_;
  DurableCourier& courier_;
  Conversations& conversations_;
  ShardId dispatcher_;
};

}  // namespace taut::gateway
