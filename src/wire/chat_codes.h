// The numbers and names of the chat protocol: message types, error codes, close codes and the small
// enumerations.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/identity.h"

namespace taut::wire {

/// The WebSocket sub-protocol of the chat.
inline constexpr std::string_view kChatSubprotocol = "taut.v1.json";
/// `version` of a hello that this server speaks.
inline constexpr uint32_t kChatVersion = 1;

/// Longest text of a message, bytes of UTF-8 after unescaping.
inline constexpr uint32_t kTextBytesMax = 16'384;
/// Longest frame of a client: a text in which each byte is escaped as \u00XX, and the other fields.
inline constexpr uint32_t kChatFrameBytesMax = 6 * kTextBytesMax + 4'096;
/// Best rating of a conversation; 1 is the worst.
inline constexpr uint32_t kRatingMax = 5;
/// Longest block of a visitor: a leap year.
inline constexpr uint32_t kBlockSecondsMax = 366 * 86'400;
/// Longest page of history, items.
inline constexpr uint32_t kHistoryItemsMax = 200;
/// Sequence numbers and times stay below what a JavaScript number holds exactly.
inline constexpr uint64_t kIntegerMax = (uint64_t{1} << 53) - 1;

/// What a client sends; the values are the numbers of the compact carrier.
enum class ClientType : uint8_t {
  hello = 1,
  open,
  send,
  typing,
  delivered,
  read,
  history,
  presence,
  accept,
  decline,
  take,
  transfer,
  close,
  list,
  ping,
  rate,
  replies,
  block,
};
inline constexpr uint32_t kClientTypes = 18;

/// What the server sends; the values are the numbers of the compact carrier.
enum class ServerType : uint8_t {
  welcome = 32,
  opened,
  ack,
  message,
  event,
  assigned,
  unassigned,
  queue,
  typing,
  receipt,
  history,
  list,
  resumed,
  gap,
  ok,
  pong,
  error,
  bye,
  replies,
};

inline constexpr ServerType kServerTypeLast = ServerType::replies;

/// `code` of an error object.
enum class ErrorCode : uint8_t {
  bad_json,
  bad_utf8,
  bad_field,
  unknown_type,
  too_large,
  not_hello,
  bad_token,
  forbidden,
  no_such_conversation,
  not_yours,
  taken,
  closed,
  id_conflict,
  capacity,
  rate_limited,
  inflight,
  overloaded,
  storage,
};
inline constexpr uint32_t kErrorCodes = 18;

/// WebSocket close codes; the 4000s are the protocol's own.
enum class CloseCode : uint16_t {
  none = 0,  ///< no close, or a close frame without a code
  done = 1000,
  protocol = 1002,
  broken_utf8 = 1007,
  too_big = 1009,
  internal = 1011,
  bad_token = 4001,
  blocked = 4003,
  unknown_site = 4004,
  version = 4010,
  replaced = 4011,
  overloaded = 4101,
  rate_limited = 4102,
  slow_consumer = 4103,
  no_pong = 4104,
  token_expired = 4105,
  draining = 4200,
};

enum class ItemKind : uint8_t { text, note };
enum class PartyKind : uint8_t { visitor, agent, bot, system };
enum class ConversationState : uint8_t { queued, assigned, active, closed };
enum class PresenceStatus : uint8_t { online, busy, away, offline };
enum class ListScope : uint8_t { mine, queued, all };
enum class Durability : uint8_t { none, durable, durable_before_deliver };
inline constexpr std::array<std::string_view, 3> kDurabilityNames = {"none", "durable",
                                                                     "durable_before_deliver"};
enum class AckLevel : uint8_t { accepted, durable };
enum class ReceiptLevel : uint8_t { delivered, read };
enum class EventKind : uint8_t {
  opened,
  assigned,
  accepted,
  transferred,
  requeued,
  closed,
  reopened,
  note_hidden,
  rated,
};
enum class UnassignReason : uint8_t { transferred, timeout, declined, taken, offline, closed };
enum class GapReason : uint8_t { ahead, unknown_epoch, expired, no_such_conversation };

/// The words on the wire. Any thread.
[[nodiscard]] std::string_view name_of(ClientType value);
[[nodiscard]] std::string_view name_of(ServerType value);
[[nodiscard]] std::string_view name_of(ErrorCode value);
[[nodiscard]] std::string_view name_of(CloseCode value);  ///< for logs and reason texts: "slow consumer"
[[nodiscard]] std::string_view name_of(ItemKind value);
[[nodiscard]] std::string_view name_of(PartyKind value);
[[nodiscard]] std::string_view name_of(ConversationState value);
[[nodiscard]] std::string_view name_of(PresenceStatus value);
[[nodiscard]] std::string_view name_of(ListScope value);
[[nodiscard]] std::string_view name_of(Durability value);
[[nodiscard]] std::string_view name_of(AckLevel value);
[[nodiscard]] std::string_view name_of(ReceiptLevel value);
[[nodiscard]] std::string_view name_of(EventKind value);
[[nodiscard]] std::string_view name_of(UnassignReason value);
[[nodiscard]] std::string_view name_of(GapReason value);
[[nodiscard]] inline std::string_view name_of(Role value) {
  return role_name(value);
}

/// The word's value in an enumeration whose last one is `last`; nothing for a word that is not in it.
template <class E>
[[nodiscard]] std::optional<E> value_of(std::string_view word, E last) {
  for (uint8_t i = 0; i <= static_cast<uint8_t>(last); ++i) {
    if (word == name_of(static_cast<E>(i))) return static_cast<E>(i);
  }
  return std::nullopt;
}

/// Nothing for a word that is not in the protocol.
[[nodiscard]] std::optional<ClientType> client_type_of(std::string_view name);
/// The same by the number on the compact carrier.
[[nodiscard]] std::optional<ClientType> client_type_of(uint32_t number);

/// Whether the same request may succeed later unchanged: the usual `retryable` of an error with this code.
[[nodiscard]] bool retryable(ErrorCode code);

}  // namespace taut::wire
