// Why a conversation waits: GET /v1/dispatch/explain, from the id of the conversation to the JSON.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chat/dispatcher.h"
#include "gateway/inquiry.h"
#include "gateway/layout.h"
#include "gateway/mails.h"

namespace taut::gateway {

class Conversations;

/// A page as it travels in a block: conversation's shard, which finds the key, dispatcher, and back.
struct ExplanationPage {
  static constexpr uint32_t kAgentsMax = 64;
  struct Agent {
    chat::InlineId id;
    chat::Dispatcher::Explained how;
  };

  chat::InlineId id;
  chat::ConversationKey conversation;  ///< zero when there is none of this id
  uint32_t from = 0;
  chat::InlineId owner;
  chat::Dispatcher::Explanation found;
  std::array<Agent, kAgentsMax> agents;
};

/// The stop at the conversation's shard; its thread only.
void visit(Shard& shard, Conversations& conversations, ShardId dispatcher, const InquiryMail& mail);
/// The stop at the dispatcher; its thread only.
void explain(Shard& shard, const chat::Dispatcher& dispatcher, const InquiryMail& mail);

/// `groups` outlives it.
[[nodiscard]] HttpReply explain_conversation(std::string_view id, const Layout& layout,
                                             const std::vector<std::string>& groups);

}  // namespace taut::gateway
