// Between the words of the state machines, of the wire and of the history's store, which may not know each
// other but number them alike.
#pragma once

#include "chat/conversation.h"
#include "chat/resume.h"
#include "chat/types.h"
#include "store/stored_record.h"
#include "wire/chat_codes.h"

namespace taut::gateway {

/// Holds for enumerators of the same name; every pair that travels is listed below.
#define TAUT_SAME_NUMBER(C, W, name) \
  static_assert(static_cast<int>(chat::C::name) == static_cast<int>(wire::W::name))

TAUT_SAME_NUMBER(ConversationState, ConversationState, queued);
TAUT_SAME_NUMBER(ConversationState, ConversationState, assigned);
TAUT_SAME_NUMBER(ConversationState, ConversationState, active);
TAUT_SAME_NUMBER(ConversationState, ConversationState, closed);
TAUT_SAME_NUMBER(PartyKind, PartyKind, visitor);
TAUT_SAME_NUMBER(PartyKind, PartyKind, agent);
TAUT_SAME_NUMBER(PartyKind, PartyKind, bot);
TAUT_SAME_NUMBER(PartyKind, PartyKind, system);
TAUT_SAME_NUMBER(ItemKind, ItemKind, text);
TAUT_SAME_NUMBER(ItemKind, ItemKind, note);
TAUT_SAME_NUMBER(EventKind, EventKind, opened);
TAUT_SAME_NUMBER(EventKind, EventKind, assigned);
TAUT_SAME_NUMBER(EventKind, EventKind, accepted);
TAUT_SAME_NUMBER(EventKind, EventKind, transferred);
TAUT_SAME_NUMBER(EventKind, EventKind, requeued);
TAUT_SAME_NUMBER(EventKind, EventKind, closed);
TAUT_SAME_NUMBER(EventKind, EventKind, reopened);
TAUT_SAME_NUMBER(EventKind, EventKind, note_hidden);
TAUT_SAME_NUMBER(EventKind, EventKind, rated);
TAUT_SAME_NUMBER(Reason, UnassignReason, transferred);
TAUT_SAME_NUMBER(Reason, UnassignReason, timeout);
TAUT_SAME_NUMBER(Reason, UnassignReason, declined);
TAUT_SAME_NUMBER(Reason, UnassignReason, taken);
TAUT_SAME_NUMBER(Reason, UnassignReason, offline);
TAUT_SAME_NUMBER(Reason, UnassignReason, closed);
TAUT_SAME_NUMBER(GapReason, GapReason, ahead);
TAUT_SAME_NUMBER(GapReason, GapReason, unknown_epoch);
TAUT_SAME_NUMBER(GapReason, GapReason, expired);
TAUT_SAME_NUMBER(ReceiptLevel, ReceiptLevel, delivered);
TAUT_SAME_NUMBER(ReceiptLevel, ReceiptLevel, read);
TAUT_SAME_NUMBER(ListScope, ListScope, mine);
TAUT_SAME_NUMBER(ListScope, ListScope, queued);
TAUT_SAME_NUMBER(ListScope, ListScope, all);
TAUT_SAME_NUMBER(Presence, PresenceStatus, online);
TAUT_SAME_NUMBER(Presence, PresenceStatus, busy);
TAUT_SAME_NUMBER(Presence, PresenceStatus, away);
TAUT_SAME_NUMBER(Presence, PresenceStatus, offline);

#undef TAUT_SAME_NUMBER

#define TAUT_SAME_NUMBER(name)                                      \
  static_assert(static_cast<int>(store::ConversationState::name) == \
                static_cast<int>(wire::ConversationState::name))

TAUT_SAME_NUMBER(queued);
TAUT_SAME_NUMBER(assigned);
TAUT_SAME_NUMBER(active);
TAUT_SAME_NUMBER(closed);

#undef TAUT_SAME_NUMBER

[[nodiscard]] constexpr wire::ConversationState wire_term(store::ConversationState value) {
  return static_cast<wire::ConversationState>(value);
}
[[nodiscard]] constexpr store::ConversationState store_term(wire::ConversationState value) {
  return static_cast<store::ConversationState>(value);
}

[[nodiscard]] constexpr wire::ConversationState wire_term(chat::ConversationState value) {
  return static_cast<wire::ConversationState>(value);
}
[[nodiscard]] constexpr wire::PartyKind wire_term(chat::PartyKind value) {
  return static_cast<wire::PartyKind>(value);
}
[[nodiscard]] constexpr wire::EventKind wire_term(chat::EventKind value) {
  return static_cast<wire::EventKind>(value);
}
[[nodiscard]] constexpr wire::UnassignReason wire_term(chat::Reason value) {
  return static_cast<wire::UnassignReason>(value);
}
[[nodiscard]] constexpr wire::GapReason wire_term(chat::GapReason value) {
  return static_cast<wire::GapReason>(value);
}
[[nodiscard]] constexpr wire::ReceiptLevel wire_term(chat::ReceiptLevel value) {
  return static_cast<wire::ReceiptLevel>(value);
}
[[nodiscard]] constexpr wire::ErrorCode wire_term(chat::Code value) {
  switch (value) {
    case chat::Code::closed:
      return wire::ErrorCode::closed;
    case chat::Code::not_yours:
      return wire::ErrorCode::not_yours;
    case chat::Code::taken:
      return wire::ErrorCode::taken;
    case chat::Code::id_conflict:
      return wire::ErrorCode::id_conflict;
    case chat::Code::capacity:
    case chat::Code::unavailable:
      return wire::ErrorCode::capacity;
    case chat::Code::forbidden:
    case chat::Code::ok:
      break;
  }
  return wire::ErrorCode::forbidden;
}
[[nodiscard]] constexpr chat::ConversationState chat_term(wire::ConversationState value) {
  return static_cast<chat::ConversationState>(value);
}
[[nodiscard]] constexpr chat::ItemKind chat_term(wire::ItemKind value) {
  return static_cast<chat::ItemKind>(value);
}
[[nodiscard]] constexpr chat::PartyKind chat_term(wire::PartyKind value) {
  return static_cast<chat::PartyKind>(value);
}
[[nodiscard]] constexpr chat::EventKind chat_term(wire::EventKind value) {
  return static_cast<chat::EventKind>(value);
}
[[nodiscard]] constexpr chat::ListScope chat_term(wire::ListScope value) {
  return static_cast<chat::ListScope>(value);
}
[[nodiscard]] constexpr wire::PresenceStatus wire_term(chat::Presence value) {
  return static_cast<wire::PresenceStatus>(value);
}
[[nodiscard]] constexpr chat::Presence chat_term(wire::PresenceStatus value) {
  return static_cast<chat::Presence>(value);
}

}  // namespace taut::gateway
