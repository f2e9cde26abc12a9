// What the journal's records say beside the items: JSON objects, written into a block of the caller's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/chat_codes.h"

namespace taut::wire {

// One struct per payload of journal::RecordType; an item's payload is the `message` or `event` object that
// was pushed (wire/chat_writer.h), and that of `stopped` is kNothing. Strings and numbers as there: valid
// UTF-8, numbers ≤ kIntegerMax, empty optional strings left out.

inline constexpr std::string_view kNothing = "{}";

/// started
struct Started {
  std::string_view version = {};
  bool clean = false;  ///< the record before it is `stopped`, or there is none
};

/// conversation: what does not change while it lives.
struct ConversationFacts {
  std::string_view conversation = {};
  std::string_view group = {};  ///< the name of that in which it was opened
  std::string_view visitor = {};
  std::string_view name = {};        ///< optional: the visitor's
  std::string_view subject = {};     ///< optional
  std::string_view attributes = {};  ///< optional: raw JSON object, written as it is
};

/// receipts: how far each side has come; 0: nowhere yet.
struct Marks {
  std::string_view conversation = {};
  uint64_t visitor_delivered = 0;
  uint64_t visitor_read = 0;
  uint64_t agent_delivered = 0;
  uint64_t agent_read = 0;
  std::string_view marked_by = {};  ///< optional: the agent who moved the agents' last
};

/// presence
struct PresenceSet {
  static constexpr uint32_t kTokenCapacity = UINT32_MAX;

  std::string_view agent = {};
  PresenceStatus status = PresenceStatus::offline;
  uint32_t capacity = kTokenCapacity;  ///< kTokenCapacity: what its token says, left out
};

/// block
struct VisitorBlocked {
  std::string_view visitor = {};
  uint64_t until_ms = 0;  ///< since 1970; 0: let in again
};

/// forgotten
struct VisitorForgotten {
  std::string_view visitor = {};
};

// For each struct M above:
//   max_size(m)    bytes that write() needs at most: exact for strings (escapes counted), 20 for each number
//   write(out, m)  the object; answers its size. REQUIRES: out.size() ≥ max_size(m). Never allocates. Any
//                  thread.

#define TAUT_WIRE_WRITES(M)                           \
  [[nodiscard]] size_t max_size(const M& m) noexcept; \
  uint32_t write(std::span<char> out, const M& m) noexcept;

TAUT_WIRE_WRITES(Started)
TAUT_WIRE_WRITES(ConversationFacts)
TAUT_WIRE_WRITES(Marks)
TAUT_WIRE_WRITES(PresenceSet)
TAUT_WIRE_WRITES(VisitorBlocked)
TAUT_WIRE_WRITES(VisitorForgotten)

#undef TAUT_WIRE_WRITES

}  // namespace taut::wire
