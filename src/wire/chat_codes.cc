#include "wire/chat_codes.h"

#include <array>
#include <cstddef>
#include <utility>

#include "base/assert.h"
#include "wire/name_table.h"

namespace taut::wire {
namespace {

constexpr std::array<std::string_view, kClientTypes> kClientTypeNames = {
    "hello",   "open", "send",     "typing", "delivered", "read", "history", "presence", "accept",
    "decline", "take", "transfer", "close",  "list",      "ping", "rate",    "replies",  "block"};
constexpr NameTable kClientTypeTable(kClientTypeNames);

constexpr std::array<std::string_view, 19> kServerTypeNames = {
    "welcome", "opened", "ack",     "message", "event",  "assigned", "unassigned",
    "queue",   "typing", "receipt", "history", "list",   "resumed",  "gap",
    "ok",      "pong",   "error",   "bye",     "replies"};

constexpr std::array<std::string_view, kErrorCodes> kErrorNames = {
    "bad_json",     "bad_utf8",   "bad_field",
    "unknown_type", "too_large",  "not_hello",
    "bad_token",    "forbidden",  "no_such_conversation",
    "not_yours",    "taken",      "closed",
    "id_conflict",  "capacity",   "rate_limited",
    "inflight",     "overloaded", "storage"};

constexpr std::array<std::string_view, 2> kItemKindNames = {"text", "note"};
constexpr std::array<std::string_view, 4> kPartyKindNames = {"visitor", "agent", "bot", "system"};
constexpr std::array<std::string_view, 4> kStateNames = {"queued", "assigned", "active", "closed"};
constexpr std::array<std::string_view, 4> kPresenceNames = {"online", "busy", "away", "offline"};
constexpr std::array<std::string_view, 3> kScopeNames = {"mine", "queued", "all"};
constexpr std::array<std::string_view, 2> kAckNames = {"accepted", "durable"};
constexpr std::array<std::string_view, 2> kReceiptNames = {"delivered", "read"};
constexpr std::array<std::string_view, 9> kEventNames = {"opened",      "assigned",    "accepted",
                                                         "transferred", "requeued",    "closed",
                                                         "reopened",    "note_hidden", "rated"};
constexpr std::array<std::string_view, 6> kUnassignNames = {"transferred", "timeout", "declined",
                                                            "taken",       "offline", "closed"};
constexpr std::array<std::string_view, 4> kGapNames = {"ahead", "unknown_epoch", "expired",
                                                       "no_such_conversation"};

template <size_t N, class E>
std::string_view at(const std::array<std::string_view, N>& names, E value, size_t first = 0) {
  const size_t index = static_cast<size_t>(value) - first;
  TAUT_ASSERT(index < N);
  return names[index];
}

}  // namespace

std::string_view name_of(ClientType value) {
  return at(kClientTypeNames, value, 1);
}
std::string_view name_of(ServerType value) {
  return at(kServerTypeNames, value, 32);
}
std::string_view name_of(ErrorCode value) {
  return at(kErrorNames, value);
}
std::string_view name_of(ItemKind value) {
  return at(kItemKindNames, value);
}
std::string_view name_of(PartyKind value) {
  return at(kPartyKindNames, value);
}
std::string_view name_of(ConversationState value) {
  return at(kStateNames, value);
}
std::string_view name_of(PresenceStatus value) {
  return at(kPresenceNames, value);
}
std::string_view name_of(ListScope value) {
  return at(kScopeNames, value);
}
std::string_view name_of(Durability value) {
  return at(kDurabilityNames, value);
}
std::string_view name_of(AckLevel value) {
  return at(kAckNames, value);
}
std::string_view name_of(ReceiptLevel value) {
  return at(kReceiptNames, value);
}
std::string_view name_of(EventKind value) {
  return at(kEventNames, value);
}
std::string_view name_of(UnassignReason value) {
  return at(kUnassignNames, value);
}
std::string_view name_of(GapReason value) {
  return at(kGapNames, value);
}

std::string_view name_of(CloseCode value) {
  switch (value) {
    case CloseCode::none:
      return "no code";
    case CloseCode::done:
      return "done";
    case CloseCode::protocol:
      return "protocol error";
    case CloseCode::broken_utf8:
      return "broken UTF-8";
    case CloseCode::too_big:
      return "too big";
    case CloseCode::internal:
      return "internal error";
    case CloseCode::bad_token:
      return "bad token";
    case CloseCode::blocked:
      return "blocked";
    case CloseCode::unknown_site:
      return "unknown site";
    case CloseCode::version:
      return "version";
    case CloseCode::replaced:
      return "replaced by a newer connection";
    case CloseCode::overloaded:
      return "overloaded";
    case CloseCode::rate_limited:
      return "rate limited";
    case CloseCode::slow_consumer:
      return "slow consumer";
    case CloseCode::no_pong:
      return "no pong";
    case CloseCode::token_expired:
      return "token expired";
    case CloseCode::draining:
      return "draining";
  }
  return "other";  // a peer may close with any registered code
}

std::optional<ClientType> client_type_of(std::string_view name) {
  const int index = kClientTypeTable.find(name);
  if (index < 0) return std::nullopt;
  return static_cast<ClientType>(index + 1);
}

std::optional<ClientType> client_type_of(uint32_t number) {
  if (number < 1 || number > kClientTypes) return std::nullopt;
  return static_cast<ClientType>(number);
}

bool retryable(ErrorCode code) {
  switch (code) {
    case ErrorCode::capacity:
    case ErrorCode::rate_limited:
    case ErrorCode::inflight:
    case ErrorCode::overloaded:
    case ErrorCode::storage:
      return true;
    default:
      return false;
  }
}

}  // namespace taut::wire
