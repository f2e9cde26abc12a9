#include "gateway/recovered_conversation.h"

#include <memory_resource>

#include "gateway/conversations.h"
#include "gateway/frame.h"

namespace taut::gateway {

namespace {

void release(void* body) {
  delete static_cast<std::string*>(body);
}

}  // namespace

RecoveredConversation::RecoveredConversation(std::string_view id, chat::GroupId group, uint32_t history_items)
    : machine_(id, group, {.items_max = history_items}, *std::pmr::new_delete_resource()) {}

RecoveredConversation::~RecoveredConversation() {
  machine_.release_items(release);
}

template <class Take>
Status RecoveredConversation::keep(std::string_view json, Take&& take) {
  auto body = std::make_unique<std::string>(json);
  const Result<void*> taken = take(body.get());
  if (!taken) return std::unexpected(taken.error());
  static_cast<void>(body.release());
  release(*taken);
  return {};
}

Status RecoveredConversation::restore(const chat::RestoredMessage& message, std::string_view json) {
  return keep(json, [&](void* body) { return machine_.restore_message(message, body); });
}

Status RecoveredConversation::restore(const chat::RestoredEvent& event, std::string_view json) {
  return keep(json, [&](void* body) { return machine_.restore_event(event, body); });
}

Status RecoveredConversation::keep_message(const chat::RestoredMessage& message, bool known,
                                           std::string_view json) {
  return keep(json, [&](void* body) { return machine_.keep_message(message, known, body); });
}

Status RecoveredConversation::keep_event(const chat::RestoredEvent& event, std::string_view json) {
  return keep(json, [&](void* body) { return machine_.keep_event(event, body); });
}

Status RecoveredConversation::restore_mark(chat::Side side, chat::ReceiptLevel level, uint64_t seq) {
  if (machine_.mark(side, level, seq) != chat::MarkResult::beyond_end) return {};
  return fail("a receipt for item " + std::to_string(seq) + " of " + std::to_string(machine_.last_seq()));
}

void RecoveredConversation::thin() {
  while (void* body = machine_.drop_oldest_item()) release(body);
  machine_.forget_senders();
}

void restore(const RecoveredConversation& from, BufferPool& pool, ConversationRecord& to) {
  to.visitor_id = from.visitor_id;
  to.visitor_name = from.visitor_name;
  to.subject = from.subject;
  to.attributes = from.attributes;
  to.signals.marked_by = chat::InlineId(from.marked_by);
  to.machine.copy(from.machine(), [&](const chat::Item& item) {
    const bool event = item.kind == chat::ItemKind::event;
    return make_frame_of_json(pool, *static_cast<const std::string*>(item.body),
                              event ? wire::ServerType::event : wire::ServerType::message,
                              from.machine().id());
  });
}

}  // namespace taut::gateway
