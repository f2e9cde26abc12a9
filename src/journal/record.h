// What the journal holds: the records from which everything else is rebuilt.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

namespace taut::journal {

/// What a record tells. The numbers are the file format's (docs/journal.md): never used for anything else.
enum class RecordType : uint8_t {
  started = 1,       ///< the server began; whether the end before it was clean
  stopped = 2,       ///< the server ended, and everything before is durable
  conversation = 3,  ///< a conversation was created; its first item follows
  item = 4,          ///< a `message` or `event`, as pushed
  receipts = 5,      ///< high-water marks of one conversation
  presence = 6,      ///< an agent's own word
  block = 7,         ///< a visitor was blocked, or let in again
  forgotten = 12,    ///< a visitor, with all that was said in the visitor's conversations so far
  // In snapshots only.
  state = 8,       ///< all of one conversation but its items, which follow
  snapshot = 10,   ///< what the whole was, first
  remembered = 11  ///< messages of a conversation that are known and no longer kept
};

/// As it is written above; empty for any other number.
[[nodiscard]] constexpr std::string_view record_type_name(RecordType type) {
  constexpr std::string_view kNames[] = {"",         "started",    "stopped",  "conversation", "item",
                                         "receipts", "presence",   "block",    "state",        "",
                                         "snapshot", "remembered", "forgotten"};
  const auto number = static_cast<size_t>(type);
  return number < std::size(kNames) ? kNames[number] : "";
}

/// One record, as it is handed to the writer and as the reader finds it.
struct Record {
  uint64_t sequence = 0;  ///< 1, 2, 3, … over the whole journal, without holes; given by the writer
  int64_t time_ms = 0;    ///< since 1970
  uint16_t shard = 0;     ///< which shard it comes from
  RecordType type = RecordType::item;
  std::string_view payload;  ///< a JSON object; a view
};

}  // namespace taut::journal
