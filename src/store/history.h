// History behind one interface: what the journal's records say, in tables that can be asked.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/stored_record.h"

namespace taut::store {

/// Longest page of anything, in rows.
inline constexpr uint32_t kPageMax = 200;
/// Longest text to look for, bytes.
inline constexpr uint32_t kQueryBytesMax = 1'024;
/// Records that one call looks through where no index helps: see HistoryStore::search().
inline constexpr uint64_t kScanRecords = 100'000;

struct ConversationRow {
  uint64_t record = 0;  ///< the journal record that created it: newer conversations have higher ones
  std::string id;
  std::string visitor;
  std::string group;  ///< after a transfer to a group that group
  ConversationState state = ConversationState::queued;
  std::string agent;      ///< its owner; of a closed one the last; may be empty
  int64_t opened_ms = 0;  ///< when it was created
  int64_t last_ms = 0;    ///< when its latest item was written
  uint64_t epoch = 0;     ///< of its latest item
  uint64_t seq = 0;       ///< of its latest item
  uint64_t visitor_delivered = 0;
  uint64_t visitor_read = 0;
  uint64_t agent_delivered = 0;
  uint64_t agent_read = 0;
  std::string json;  ///< ConversationFacts::json
  friend bool operator==(const ConversationRow&, const ConversationRow&) = default;
};

struct ItemRow {
  uint64_t epoch = 0;
  uint64_t seq = 0;
  int64_t ts_ms = 0;
  ItemKind kind = ItemKind::text;
  std::string json;  ///< as it was pushed; empty: a note that a visitor asks for, show `note_hidden` instead
  friend bool operator==(const ItemRow&, const ItemRow&) = default;
};

/// Ascending by seq.
struct ItemPage {
  std::vector<ItemRow> items;
  bool more = false;  ///< in the direction that was asked for
  friend bool operator==(const ItemPage&, const ItemPage&) = default;
};

/// The first `limit` items behind seq, or the last `limit` before it (before 0: before the end).
struct ItemRange {
  enum class Side : uint8_t { after, before };
  Side side = Side::before;
  uint64_t seq = 0;
  uint32_t limit = 50;  ///< 1 to kPageMax
};

enum class Audience : uint8_t { visitor, agent };

/// What is empty does not filter.
struct ConversationFilter {
  std::optional<ConversationState> state = {};
  std::string_view agent = {};
  std::string_view visitor = {};
  std::string_view text = {};  ///< some item's text has it in it: as HistoryStore::search()
  uint64_t cursor = 0;         ///< 0: from the newest
  uint32_t limit = 50;         ///< 1 to kPageMax
};

/// Newest first. A page with a cursor may have few rows or none; the next one follows under its cursor.
struct ConversationPage {
  std::vector<ConversationRow> conversations;
  uint64_t cursor = 0;  ///< 0: the last page
};

struct SearchHit {
  uint64_t record = 0;
  std::string conversation;
  uint64_t seq = 0;
  std::string json;  ///< notes included
  friend bool operator==(const SearchHit&, const SearchHit&) = default;
};

/// Newest first; the cursor as above.
struct SearchPage {
  std::vector<SearchHit> hits;
  uint64_t cursor = 0;
};

/// What was removed; bytes are those of the JSON.
struct Removal {
  uint64_t conversations = 0;
  uint64_t items = 0;
  uint64_t bytes = 0;
  friend bool operator==(const Removal&, const Removal&) = default;
};

/// Takes one line of JSON Lines, without its end. An error ends the export.
using LineSink = std::function<Status(std::string_view line)>;

/// A projection of the journal. One thread owns it, and every call may block: never a shard's. A call that
/// fails has changed nothing, says why, and may be repeated: the store is usable afterwards.
class HistoryStore {
 public:
  HistoryStore() = default;
  HistoryStore(const HistoryStore&) = delete;
  HistoryStore& operator=(const HistoryStore&) = delete;
  virtual ~HistoryStore() = default;

  /// The journal sequence up to which records are in it; 0: nothing. One beyond the journal's end means that
  /// store and journal do not belong together: apply() would pass over records that it has never seen.
  [[nodiscard]] virtual Result<uint64_t> position() = 0;

  /// Rows and the new position in one transaction. Records at or below position() are passed over, so what
  /// was applied may come again. Items and receipts of a conversation that is not here are passed over too:
  /// its visitor was removed, or it had expired. Errors: a hole in the sequences, or behind position() unless
  /// the store is empty; two items with one (conversation, seq); the database's own.
  [[nodiscard]] virtual Status apply(std::span<const StoredRecord> records) = 0;

  /// What position() says now survives a power cut afterwards. Error: the database's; apply() may go on.
  [[nodiscard]] virtual Status sync() = 0;

  /// Items of a conversation, in time that does not grow with the history. Unknown: an empty page.
  [[nodiscard]] virtual Result<ItemPage> items(std::string_view conversation, const ItemRange& range,
                                               Audience audience) = 0;
  [[nodiscard]] virtual Result<std::optional<ConversationRow>> conversation(std::string_view id) = 0;
  [[nodiscard]] virtual Result<ConversationPage> conversations(const ConversationFilter& filter) = 0;

  /// Items that have `text` somewhere in theirs, character by character: nothing in it is an operator. Case
  /// is ignored for ASCII letters, for others as the database does. A text of fewer than three characters,
  /// for which there is no index, is looked for in kScanRecords at a time: see ConversationPage. Errors: it
  /// is empty, longer than kQueryBytesMax, has U+0000 in it.
  [[nodiscard]] virtual Result<SearchPage> search(std::string_view text, uint64_t cursor, uint32_t limit) = 0;

  /// All that is kept of a visitor's conversations, in one transaction, as a Forgotten record does. What the
  /// journal still holds of them would come back with a rebuild. Bytes go by wipe_some().
  [[nodiscard]] virtual Result<Removal> remove_visitor(std::string_view visitor) = 0;

  /// A piece of what is left to do until no byte of removed visitors is in the store's files; the last one
  /// may take as long as copying the store, and as much disk. False: nothing is left, or the database does it
  /// in its own time.
  [[nodiscard]] virtual Result<bool> wipe_some() { return false; }

  /// Closed conversations whose latest item is older, those first that have been quiet longest, at most so
  /// many in one transaction: fewer than that means that it is done.
  [[nodiscard]] virtual Result<Removal> expire(int64_t before_ms, uint32_t conversations_max) = 0;

  /// For each conversation of the visitor, newest first, ConversationFacts::json and then its items, notes
  /// included. Nobody writes in between: the owner's thread is here.
  [[nodiscard]] Status export_visitor(std::string_view visitor, const LineSink& sink);

  /// A call that waits for a server, or takes long, fails soon, within the time that a connection may take.
  /// Any thread.
  virtual void interrupt() {}

  /// A copy of the whole store as it is now, into a file that must not exist and appears when it is complete.
  [[nodiscard]] virtual Status backup(const std::string& path) = 0;
};

}  // namespace taut::store
