// A record of the journal as history takes it: read already, in views.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace taut::store {

// The numbers of these stand in the databases: never used for anything else.
enum class ItemKind : uint8_t { text = 0, note = 1, event = 2 };
enum class PartyKind : uint8_t { visitor = 0, agent = 1, bot = 2, system = 3 };
enum class ConversationState : uint8_t { queued = 0, assigned = 1, active = 2, closed = 3 };
enum class EventKind : uint8_t {
  none = 0,  ///< the item is no event
  opened = 1,
  assigned = 2,
  accepted = 3,
  transferred = 4,
  requeued = 5,
  closed = 6,
  reopened = 7,
  rated = 8,
};

/// A conversation was created; everything else about it comes behind. Told again (at a reopening) it replaces
/// what was known of it, or brings back one that had expired.
struct ConversationFacts {
  std::string_view conversation;
  std::string_view group;
  std::string_view visitor;
  std::string_view json;  ///< the record's payload, with the name, the subject and the attributes
};

/// A `message` or an `event`.
struct Item {
  std::string_view conversation;
  uint64_t epoch = 1;
  uint64_t seq = 0;
  int64_t ts_ms = 0;
  ItemKind kind = ItemKind::text;
  PartyKind sender_kind = PartyKind::visitor;  ///< of texts and notes
  std::string_view sender = {};                ///< of texts and notes: an id
  EventKind event = EventKind::none;
  std::string_view agent = {};  ///< of events; may be empty
  std::string_view group = {};  ///< of events; may be empty
  std::string_view text = {};   ///< what search looks at; empty: nothing
  std::string_view json;        ///< the object as it was pushed, byte for byte
};

/// High-water marks; lower ones than before change nothing.
struct Receipts {
  std::string_view conversation;
  uint64_t visitor_delivered = 0;
  uint64_t visitor_read = 0;
  uint64_t agent_delivered = 0;
  uint64_t agent_read = 0;
};

/// All that is kept of a visitor so far goes, from records of the same batch too.
struct Forgotten {
  std::string_view visitor;
};

/// All texts are UTF-8 without U+0000; the views live as long as the call that takes them.
struct StoredRecord {
  uint64_t sequence = 0;  ///< in the journal: 1, 2, 3, … without holes; below 2^63
  int64_t time_ms = 0;    ///< since 1970
  /// monostate: a record of which history keeps nothing; its sequence counts all the same.
  std::variant<std::monostate, ConversationFacts, Item, Receipts, Forgotten> content;
};

}  // namespace taut::store
