// What is said beside the messages: how far a side has received and read, and that it types.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "chat/conversation.h"
#include "chat/typing.h"
#include "core/shard.h"
#include "gateway/conversation_request.h"
#include "gateway/durable_courier.h"

namespace taut::gateway {

class Conversations;
struct ConversationRecord;

/// Signals of one conversation, by chat::Side: what the other side has to be told at the end of the turn.
struct SignalState {
  std::array<chat::Typing, 2> typing;
  std::array<std::array<bool, 2>, 2> receipts_due{};  ///< side, level
  chat::InlineId marked_by;                           ///< the agent who moved the agents' marks last
  bool due = false;                                   ///< in the list of this turn
};

/// However often they are said in a turn, each is told once, with the last value. Owner thread only.
class Signals {
 public:
  Signals(Shard& shard, DurableCourier& courier, Conversations& conversations)
      : shard_(shard), courier_(courier), conversations_(conversations) {}

  void typing(ConversationRecord& record, const Requester& from, bool on);
  /// The mark of that side has moved.
  void marked(ConversationRecord& record, const Requester& from, chat::ReceiptLevel level);
  /// Once per turn.
  void flush();
  /// How far the other side is, for a connection that is about to hear that it has everything.
  void tell_marks(const ConversationRecord& record, Handle connection, bool for_visitor);

 private:
  void note(ConversationRecord& record);
  void tell(ConversationRecord& record, chat::Side side);
  [[nodiscard]] Block* make_receipt(const ConversationRecord& record, chat::Side side,
                                    chat::ReceiptLevel level);
  /// To all connections of the other side.
  void push(const ConversationRecord& record, chat::Side from, Block* frame, Lane lane);

  Shard& shard_;
  DurableCourier& courier_;
  Conversations& conversations_;
  std::vector<Handle> due_;
};

}  // namespace taut::gateway
