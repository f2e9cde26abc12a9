// What somebody asks of a conversation, in views where it was read and packed in a block where it travels.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/handle.h"
#include "chat/types.h"
#include "core/buffer_pool.h"
#include "gateway/trace.h"
#include "wire/chat_codes.h"

namespace taut::gateway {

/// Who asks, and where the answer goes.
struct Requester {
  chat::PartyKind kind = chat::PartyKind::visitor;
  Handle connection;
  Handle endpoint;
  uint64_t groups = 0;       ///< agents: bit g for group g
  uint32_t owner_epoch = 0;  ///< agents: the assignment that their shard knows of, 0: none
  uint32_t ref = 0;
  bool has_ref = true;             ///< false: an error comes without one
  bool other_connections = false;  ///< the identity has more than this one
  std::string_view id;
  std::string_view name;

  [[nodiscard]] bool is_visitor() const { return kind == chat::PartyKind::visitor; }
};

/// One request; fields that its type does not have are zero. `hello` here means: this connection of the
/// requester has just come and wants to know what it missed. A view, never stored.
struct ConversationRequest {
  wire::ClientType type = wire::ClientType::send;
  wire::ItemKind kind = wire::ItemKind::text;
  bool text_clean = false;  ///< send: no byte of the text needs an escape in JSON
  bool on = false;          ///< typing
  bool has_cursor = false;  ///< hello: from (epoch, seq) on
  uint64_t epoch = 0;
  uint64_t seq = 0;      ///< hello, delivered, read
  uint64_t before = 0;   ///< history
  uint32_t limit = 0;    ///< history
  uint32_t rating = 0;   ///< rate
  uint32_t seconds = 0;  ///< block; 0: not said
  Requester from;
  Handle key;  ///< of the conversation, where the asker's shard knows it; zero: found by its id
  std::string_view conversation;
  std::string_view client_msg_id;
  std::string_view text;
  std::string_view reason;
  std::string_view to_agent;  ///< transfer: this …
  std::string_view to_group;  ///< … or this
};

/// A copy, and where its message has been so far, in a block of the pool with one reference; nullptr when the
/// pool is exhausted.
[[nodiscard]] Block* pack(BufferPool& pool, const ConversationRequest& request, const Trace& trace);
/// The request again; its views point into the block.
[[nodiscard]] ConversationRequest unpack(const Block& block);
[[nodiscard]] Trace trace_of(const Block& block);

}  // namespace taut::gateway
