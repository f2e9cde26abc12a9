#include "chat/types.h"

namespace taut::chat {

std::string_view name(ConversationState state) {
  static constexpr std::string_view kNames[] = {"queued", "assigned", "active", "closed"};
  return kNames[static_cast<size_t>(state)];
}

std::string_view name(PartyKind kind) {
  static constexpr std::string_view kNames[] = {"visitor", "agent", "bot", "system"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view name(ItemKind kind) {
  static constexpr std::string_view kNames[] = {"text", "note", "event"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view name(EventKind kind) {
  static constexpr std::string_view kNames[] = {"opened",      "assigned",    "accepted",
                                                "transferred", "requeued",    "closed",
                                                "reopened",    "note_hidden", "rated"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view name(Reason reason) {
  static constexpr std::string_view kNames[] = {"transferred", "timeout", "declined",
                                                "taken",       "offline", "closed"};
  return kNames[static_cast<size_t>(reason)];
}

std::string_view name(Presence presence) {
  static constexpr std::string_view kNames[] = {"online", "busy", "away", "offline"};
  return kNames[static_cast<size_t>(presence)];
}

std::string_view name(Code code) {
  static constexpr std::string_view kNames[] = {"ok",          "closed",    "not_yours", "taken",
                                                "id_conflict", "forbidden", "capacity",  "capacity"};
  return kNames[static_cast<size_t>(code)];
}

}  // namespace taut::chat
