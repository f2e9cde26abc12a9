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

  // Of snapshots: the machine's operations.
  [[nodiscard]] Status restore_image(const chat::ConversationImage& image) {
    return machine_.restore_image(image);
  }
  [[nodiscard]] Status remember(chat::PartyKind kind, std::string_view sender,
                                const chat::DedupWindow::Entry& entry) {
    return machine_.remember(kind, sender, entry);
  }
  [[nodiscard]] Status keep_message(const chat::RestoredMessage& message, bool known, std::string_view json);
  [[nodiscard]] Status keep_event(const chat::RestoredEvent& event, std::string_view json);

  /// Keeps its latest item alone, and no message is told from a repeat any more.
  void thin();

  std::string group_name;  ///< the name of that in which it is, configured or not
  std::string visitor_id;
  std::string visitor_name;
  std::string subject;
  std::string attributes;
  std::string agent;      ///< to whom it is, or was when it was closed; empty: to nobody
  std::string marked_by;  ///< the agent who moved the agents' marks last
  uint32_t number = 0;    ///< of an open one: as for Dispatcher::conversation_restored()

  // For Recovery.
  uint64_t opened_at = 0;  ///< number of the record that opened it last
  uint64_t closed_at = 0;  ///< … after which it is to be forgotten first
  uint16_t origin = 0;     ///< shard from which its records come
  bool regrouped = false;  ///< its group is not configured

 private:
  /// take(body) hands the body to the machine.
  template <class Take>
  [[nodiscard]] static Status keep(std::string_view json, Take&& take);

  chat::Conversation machine_;
};

/// Gives a new record, made for the same id, group and history_items, what was recovered: facts, state, and
/// items as frames out of `pool` (of the heap where that is full). Left to its owner are the indices, the
/// list of closed ones, the visitor's endpoint and the agent's number. Shard's thread.
void restore(const RecoveredConversation& from, BufferPool& pool, ConversationRecord& to);

}  // namespace taut::gateway
