// What the records of a snapshot say: JSON objects, as those of the journal (wire/record_json.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/chat_codes.h"
#include "wire/record_json.h"

namespace taut::wire {

/// snapshot: the first record, about the whole.
struct SnapshotFacts {
  uint64_t hash_seed = 0;  ///< by which its hashes were made
  bool stopped = false;    ///< the last record that it covers is `stopped`
  uint64_t latest_ms = 0;  ///< the latest time of a record, since 1970
  uint64_t forgotten = 0;  ///< closed conversations that are kept no longer
};

/// An epoch, or a run of which only the first has items: `first` to `epoch`, and the last seq.
struct EpochSpan {
  uint32_t first = 0;
  uint32_t epoch = 0;
  uint64_t last = 0;
};

/// Of this sender's messages those from first_seq on are known; 0: none.
struct KnownSender {
  PartyKind kind = PartyKind::visitor;
  std::string_view id = {};  ///< the visitor's is empty
  uint64_t first_seq = 0;
};

/// state: one conversation. Messages that are known and no longer kept follow as `remembered`, then the items
/// that are kept, as in the journal.
struct Standing {
  ConversationFacts facts;  ///< with the group in which it is now
  ConversationState state = ConversationState::queued;
  uint32_t opening = 0;
  uint32_t rated_opening = 0;
  uint32_t owner_epoch = 0;
  std::string_view owner = {};  ///< optional: an agent's id
  uint32_t owned_since = 0;
  std::string_view agent = {};  ///< optional: to whom it is, or was when it was closed
  Marks marks = {};             ///< its `conversation` is not written
  uint64_t first_seq = 1;       ///< of the items that are kept
  uint64_t opened_at = 0;       ///< numbers of the journal's records
  uint64_t closed_at = 0;
  std::span<const EpochSpan> epochs = {};
  std::span<const KnownSender> senders = {};  ///< the visitor, then who has not sent for longest
};

/// A message by what tells it from others.
struct KnownMessage {
  uint64_t seq = 0;
  uint32_t epoch = 0;
  uint64_t ts = 0;
  std::array<uint64_t, 3> hashes{};  ///< of the id, 128 bits, and of the body
};

/// remembered: some of one sender's, ascending. Several may follow one another.
struct KnownMessages {
  /// So many fit into a record.
  static constexpr size_t kMessagesMax = 4'096;

  std::string_view conversation = {};
  PartyKind kind = PartyKind::visitor;
  std::string_view sender = {};  ///< optional: the visitor's is empty
  std::span<const KnownMessage> messages = {};
};

// max_size() and write() as in wire/record_json.h.

[[nodiscard]] size_t max_size(const SnapshotFacts& m) noexcept;
uint32_t write(std::span<char> out, const SnapshotFacts& m) noexcept;
[[nodiscard]] size_t max_size(const Standing& m) noexcept;
uint32_t write(std::span<char> out, const Standing& m) noexcept;
[[nodiscard]] size_t max_size(const KnownMessages& m) noexcept;
uint32_t write(std::span<char> out, const KnownMessages& m) noexcept;

}  // namespace taut::wire
