#include "gateway/signals.h"

#include <utility>

#include "gateway/conversations.h"
#include "gateway/wire_terms.h"

namespace taut::gateway {

namespace {

constexpr std::array kSides{chat::Side::visitor, chat::Side::agent};
constexpr std::array kLevels{chat::ReceiptLevel::delivered, chat::ReceiptLevel::read};

chat::Side side_of(const Requester& from) {
  return from.is_visitor() ? chat::Side::visitor : chat::Side::agent;
}

wire::Party party_of(const ConversationRecord& record, chat::Side side, std::string_view agent) {
  if (side == chat::Side::agent) return {.kind = wire::PartyKind::agent, .id = agent};
  return {.kind = wire::PartyKind::visitor, .id = record.visitor_id, .name = record.visitor_name};
}

}  // namespace

void Signals::typing(ConversationRecord& record, const Requester& from, bool on) {
  record.signals.typing[static_cast<size_t>(side_of(from))].hear(from.connection, on);
  note(record);
}

void Signals::marked(ConversationRecord& record, const Requester& from, chat::ReceiptLevel level) {
  if (!from.is_visitor()) record.signals.marked_by = chat::InlineId(from.id);
  record.signals.receipts_due[static_cast<size_t>(side_of(from))][static_cast<size_t>(level)] = true;
  note(record);
}

void Signals::note(ConversationRecord& record) {
  if (std::exchange(record.signals.due, true)) return;
  due_.push_back(record.self);
}

void Signals::flush() {
  for (const Handle conversation : due_) {
    ConversationRecord* record = conversations_.find(conversation);
    if (record == nullptr) continue;
    record->signals.due = false;
    for (const chat::Side side : kSides) tell(*record, side);
  }
  due_.clear();
}

void Signals::tell(ConversationRecord& record, chat::Side side) {
  std::array<bool, 2>& due = record.signals.receipts_due[static_cast<size_t>(side)];
  if (due[0] || due[1]) conversations_.journal_receipts(record);
  for (const chat::ReceiptLevel level : kLevels) {
    if (std::exchange(due[static_cast<size_t>(level)], false))
      push(record, side, make_receipt(record, side, level), Lane::live);
  }
  const std::optional<bool> on = record.signals.typing[static_cast<size_t>(side)].due(shard_.now_ns());
  if (!on) return;
  push(
      record, side,
      make_frame(shard_.pool(), wire::Typing{.conversation = record.machine.id(),
                                             .from = party_of(record, side, record.machine.owner().id.view()),
                                             .on = *on,
                                             .ttl_ms = chat::Typing::kTtlNs / 1'000'000}),
      Lane::live_lossy);
}

void Signals::push(const ConversationRecord& record, chat::Side from, Block* frame, Lane lane) {
  if (frame == nullptr) return;  // the next one will say more
  const Handle to = from == chat::Side::visitor ? record.machine.owner().key : record.visitor;
  if (!to) return shard_.pool().release(frame);
  courier_.deliver(
      {.to = to, .conversation = record.self, .frame = frame, .lane = lane, .to_endpoint = true});
}

void Signals::tell_marks(const ConversationRecord& record, Handle connection, bool for_visitor) {
  const chat::Side other = for_visitor ? chat::Side::agent : chat::Side::visitor;
  if (for_visitor && record.signals.marked_by.empty()) return;  // of a journal that did not say who
  for (const chat::ReceiptLevel level : kLevels) {
    if (record.machine.mark_of(other, level) == 0) continue;
    Block* frame = make_receipt(record, other, level);
    if (frame == nullptr) continue;
    courier_.deliver({.to = connection, .conversation = record.self, .frame = frame, .lane = Lane::page});
  }
}

Block* Signals::make_receipt(const ConversationRecord& record, chat::Side side, chat::ReceiptLevel level) {
  return make_frame(shard_.pool(),
                    wire::Receipt{.conversation = record.machine.id(),
                                  .seq = record.machine.mark_of(side, level),
                                  .level = wire_term(level),
                                  .by = party_of(record, side, record.signals.marked_by.view())});
}

}  // namespace taut::gateway
