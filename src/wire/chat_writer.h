// From the server's messages to JSON text, written into a block of the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/identity.h"
#include "wire/chat_codes.h"

namespace taut::wire {

// One struct per object of the protocol. All strings are valid UTF-8 and may need escaping (ids do not);
// empty optional strings and false flags are left out. Numbers are ≤ kIntegerMax; times are milliseconds
// since 1970.

struct Party {
  PartyKind kind = PartyKind::visitor;
  std::string_view id = {};
  std::string_view name = {};  ///< optional
};

struct Welcome {
  std::string_view id = {};
  Role role = Role::visitor;
  Durability mode = Durability::none;
  uint64_t ping_ms = 25'000;
  uint64_t max_text_bytes = kTextBytesMax;
  uint64_t max_inflight = 1'024;
  uint64_t server_time = 0;
};

struct Opened {
  uint32_t ref = 0;
  std::string_view conversation = {};
  uint64_t epoch = 1;
  uint64_t seq = 1;
  ConversationState state = ConversationState::queued;
  uint64_t position = 0;  ///< 1 = next; 0: left out
  bool has_eta = false;
  uint64_t eta_ms = 0;
  bool closed = false;    ///< its group does not work now: `open` is false
  uint64_t opens_at = 0;  ///< only when closed; 0: left out
};

struct Ack {
  uint32_t ref = 0;
  std::string_view conversation = {};
  std::string_view client_msg_id = {};
  uint64_t epoch = 0;
  uint64_t seq = 0;
  uint64_t ts = 0;
  AckLevel level = AckLevel::accepted;
  bool dup = false;
};

struct Message {
  std::string_view conversation = {};
  uint64_t epoch = 0;
  uint64_t seq = 0;
  Party from = {};
  std::string_view client_msg_id = {};
  ItemKind kind = ItemKind::text;
  std::string_view text = {};
  uint64_t ts = 0;
  bool text_clean = false;  ///< known: no byte of the text needs an escape, so nobody looks for one
};

struct Event {
  std::string_view conversation = {};
  uint64_t epoch = 0;
  uint64_t seq = 0;
  EventKind event = EventKind::opened;
  std::string_view agent = {};   ///< optional
  std::string_view group = {};   ///< optional
  std::string_view reason = {};  ///< optional
  uint64_t rating = 0;           ///< 0: left out
  std::string_view text = {};    ///< optional: that of a rating
  uint64_t owner_epoch = 0;
  uint64_t ts = 0;
};

struct Assigned {
  std::string_view conversation = {};
  std::string_view visitor_id = {};
  std::string_view visitor_name = {};        ///< optional
  std::string_view visitor_attributes = {};  ///< optional: raw JSON object, written as it is
  std::string_view group = {};
  std::string_view subject = {};  ///< optional
  uint64_t owner_epoch = 0;
  uint64_t accept_ms = 0;
  uint64_t epoch = 0;
  uint64_t seq = 0;
};

struct Unassigned {
  std::string_view conversation = {};
  uint64_t owner_epoch = 0;
  UnassignReason reason = UnassignReason::closed;
};

struct Queue {
  std::string_view conversation = {};
  uint64_t position = 1;
  bool has_eta = false;
  uint64_t eta_ms = 0;
};

struct Typing {
  std::string_view conversation = {};
  Party from = {};
  bool on = false;
  uint64_t ttl_ms = 0;
};

struct Receipt {
  std::string_view conversation = {};
  uint64_t seq = 0;
  ReceiptLevel level = ReceiptLevel::delivered;
  Party by = {};
};

/// The part of a history page before its items; then the items, each a whole `message` or `event` object,
/// with a comma between two; then HistoryEnd.
struct HistoryBegin {
  uint32_t ref = 0;
  std::string_view conversation = {};
};
struct HistoryEnd {
  bool more = false;
};

/// The same for a list: ListBegin, entries with a comma between two, ListEnd.
struct ListBegin {
  uint32_t ref = 0;
};
struct ListEntry {
  std::string_view conversation = {};
  std::string_view group = {};
  ConversationState state = ConversationState::queued;
  std::string_view visitor_id = {};
  std::string_view visitor_name = {};  ///< optional
  std::string_view agent = {};         ///< optional: its owner
  uint64_t owner_epoch = 0;
  uint64_t epoch = 0;
  uint64_t seq = 0;
};
struct ListEnd {
  std::string_view cursor = {};  ///< optional
};

struct Resumed {
  std::string_view conversation = {};
  uint64_t epoch = 0;
  uint64_t seq = 0;
};

struct Gap {
  std::string_view conversation = {};
  uint64_t epoch = 0;
  uint64_t from = 0;
  uint64_t to = 0;
  GapReason reason = GapReason::ahead;
};

struct Ok {
  uint32_t ref = 0;
};
struct Pong {
  uint32_t ref = 0;
};

/// A text that agents send often.
struct Reply {
  std::string_view name = {};
  std::string_view text = {};
};
struct Replies {
  uint32_t ref = 0;
  std::span<const Reply> replies = {};
};

struct ErrorMessage {
  bool has_ref = false;
  uint32_t ref = 0;
  std::string_view conversation = {};  ///< optional
  ErrorCode code = ErrorCode::bad_json;
  std::string_view message = {};
  bool retryable = false;
  uint64_t retry_after_ms = 0;  ///< 0: left out
};

/// For carriers without close codes.
struct Bye {
  CloseCode code = CloseCode::done;
  std::string_view reason = {};
  uint64_t retry_after_ms = 0;  ///< 0: left out
};

/// Every whole object begins with its type and then, where it has one, its conversation:
/// {"type":"message","conversation":"c1",  and then the remaining fields and the brace. `rest_offset` is
/// where the first remaining field begins, so that a carrier that says type and conversation itself can reuse
/// the bytes behind (with '{' in place of the comma at rest_offset - 1). Of the parts (…Begin, …End,
/// ListEntry) only Begin has it and the type.
struct Written {
  uint32_t size = 0;
  uint32_t rest_offset = 0;
  ServerType type{};
};

// For each struct M above:
//   max_size(m)    bytes that write() needs at most: exact for strings (escapes counted), 20 for each number
//   write(out, m)  the object. REQUIRES: out.size() ≥ max_size(m). Never allocates. Any thread.

#define TAUT_WIRE_WRITES(M)                           \
  [[nodiscard]] size_t max_size(const M& m) noexcept; \
  Written write(std::span<char> out, const M& m) noexcept;

TAUT_WIRE_WRITES(Welcome)
TAUT_WIRE_WRITES(Opened)
TAUT_WIRE_WRITES(Ack)
TAUT_WIRE_WRITES(Message)
TAUT_WIRE_WRITES(Event)
TAUT_WIRE_WRITES(Assigned)
TAUT_WIRE_WRITES(Unassigned)
TAUT_WIRE_WRITES(Queue)
TAUT_WIRE_WRITES(Typing)
TAUT_WIRE_WRITES(Receipt)
TAUT_WIRE_WRITES(HistoryBegin)
TAUT_WIRE_WRITES(HistoryEnd)
TAUT_WIRE_WRITES(ListBegin)
TAUT_WIRE_WRITES(ListEntry)
TAUT_WIRE_WRITES(ListEnd)
TAUT_WIRE_WRITES(Resumed)
TAUT_WIRE_WRITES(Gap)
TAUT_WIRE_WRITES(Ok)
TAUT_WIRE_WRITES(Pong)
TAUT_WIRE_WRITES(Replies)
TAUT_WIRE_WRITES(ErrorMessage)
TAUT_WIRE_WRITES(Bye)

#undef TAUT_WIRE_WRITES

/// Where the remaining fields begin in an object that write() made earlier (Written::rest_offset); 0: it is
/// not of that type and conversation, or does not begin as write() begins it. REQUIRES: conversation.size() ≤
/// kIdBytesMax. Any thread.
[[nodiscard]] uint32_t rest_offset_of(std::string_view json, ServerType type,
                                      std::string_view conversation) noexcept;

}  // namespace taut::wire
