// A conversation on its way from the journal's records to its shard.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "chat/conversation.h"
#include "core/buffer_pool.h"

namespace taut::gateway {

struct ConversationRecord;

/// Made by the main thread, taken over by its shard's. Its items' bodies are JSON objects on the heap.
class RecoveredConversation {
 public:
  RecoveredConversation(std::string_view id, chat::GroupId group, uint32_t history_items);
  RecoveredConversation(const RecoveredConversation&) = delete;
  RecoveredConversation& operator=(const RecoveredConversation&) = delete;
  ~RecoveredConversation();

  [[nodiscard]] const chat::Conversation& machine() const { return machine_; }
  [[nodiscard]] bool closed() const { return machine_.state() == chat::ConversationState::closed; }

  /// The machine's restore operations with the item's JSON as body.
  [[nodiscard]] Status restore(const chat::RestoredMessage& message, std::string_view json);
  [[nodiscard]] Status restore(const chat::RestoredEvent& event, std::string_view json);
  [[nodiscard]] Status restore_mark(chat::Side side, chat::ReceiptLevel level, uint64_t seq);
  void start_epoch() { machine_.start_epoch(); }

  std::string visitor_id;
  std::string visitor_name;
  std::string subject;
  std::string attributes;
  std::string agent;    ///< to whom it is, or was when it was closed; empty: to nobody
  uint32_t number = 0;  ///< of an open one: as for Dispatcher::conversation_restored()

  // For Recovery.
  uint64_t opened_at = 0;  ///< number of the record that opened it last
  uint64_t closed_at = 0;  ///< … after which it is to be forgotten first
  uint16_t origin = 0;     ///< shard from which its records come
  bool regrouped = false;  ///< its group is not configured

 private:
  template <class What>
  [[nodiscard]] Status keep(Result<void*> (chat::Conversation::*operation)(const What&, void*),
                            const What& what, std::string_view json);

  chat::Conversation machine_;
};

/// Gives a new record, made for the same id, group and history_items, what was recovered: facts, state, and
/// items as frames out of `pool` (of the heap where that is full). Left to its owner are the indices, the
/// list of closed ones, the visitor's endpoint and the agent's number. Shard's thread.
void restore(const RecoveredConversation& from, BufferPool& pool, ConversationRecord& to);

}  // namespace taut::gateway
