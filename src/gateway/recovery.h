// Chat as it was before the start, made again of the journal's records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "chat/types.h"
#include "gateway/recovered_conversation.h"
#include "journal/record.h"
#include "journal/snapshot.h"
#include "wire/record_reader.h"

namespace taut::gateway {

/// Asked now and then during what takes long; false ends it with an Error.
using GoesOn = std::function<bool()>;

/// A visitor who may not come in.
struct RecoveredBlock {
  std::string visitor;
  int64_t until_ms = 0;  ///< since 1970; may have passed
};

/// What lives on one shard.
struct RecoveredShard {
  std::vector<std::unique_ptr<RecoveredConversation>> open;    ///< in the order of opening
  std::vector<std::unique_ptr<RecoveredConversation>> closed;  ///< the longest closed first
  std::vector<RecoveredBlock> blocked;
};

/// An agent's own word.
struct RecoveredWord {
  std::string agent;
  chat::Presence status = chat::Presence::offline;
  uint32_t capacity = 0;  ///< as for Dispatcher::agent_restored()
};

struct Recovered {
  std::vector<RecoveredShard> shards;
  std::vector<RecoveredWord> words;
  /// The latest time of a record, since 1970: that of this start, if open_journal() made it.
  int64_t latest_ms = 0;
  uint64_t hash_seed = 0;  ///< for all shards
};

/// Main thread, before the shards start. Feed it a snapshot's records, where there is one, and all records
/// behind it in order, that of this very start included, then take() what came of them. Keeps what is kept
/// live (per conversation `history_items` items and the ids that it remembers), so memory does not grow with
/// the journal. Or write_snapshot() instead of take(), on any thread.
///
/// A conversation of a group that is no longer configured goes to the first group.
class Recovery {
 public:
  struct Options {
    std::vector<std::string> groups;  ///< not empty
    /// Kept for each shard from which records come, however many there were; of more, the longest closed ones
    /// are forgotten, as live. Live one shard keeps no more than this, so nothing is forgotten that was not.
    uint32_t conversations_max = 0;
    uint32_t history_items = 0;
    /// By which ids and texts are remembered (message_hash.h), unless a snapshot says another.
    uint64_t hash_seed = 0;
  };

  struct Counts {
    uint64_t records = 0;
    uint64_t items = 0;
    uint64_t forgotten =
        0;                 ///< closed conversations beyond conversations_max, and those of forgotten visitors
    uint64_t skipped = 0;  ///< records about conversations that had been forgotten
    uint64_t regrouped = 0;  ///< conversations whose group is no longer there; known after take()
  };

  explicit Recovery(Options options);
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;
  ~Recovery();

  /// A record of a snapshot, before all others. Error: as of apply(); or of finish_snapshot(), behind the
  /// last, when something is missing.
  [[nodiscard]] Status apply_snapshot(const journal::Record& record);
  [[nodiscard]] Status finish_snapshot();

  /// Error: the record cannot have come behind those before it; names its number. Nothing more may be applied
  /// then.
  [[nodiscard]] Status apply(const journal::Record& record);

  /// The last record is `stopped`, or there has been none.
  [[nodiscard]] bool clean() const { return stopped_; }

  /// Lets go of the items of closed conversations, but for `items_max` of those closed last: their latest one
  /// stays, and what was said in them before is history's to tell. Nobody tells their messages from repeats
  /// any more.
  void thin_closed(uint64_t items_max);

  /// The last record behind the snapshot that forgets a visitor; 0: there is none.
  [[nodiscard]] uint64_t last_forgotten() const { return last_forgotten_; }

  /// The latest time of a record so far, since 1970; 0: there was none.
  [[nodiscard]] int64_t latest_ms() const { return latest_ms_; }

  /// All that a Recovery with the same options needs in place of the records so far. The same state gives the
  /// same bytes. Error: the disk's.
  [[nodiscard]] Status write_snapshot(journal::SnapshotWriter& writer, const GoesOn& goes_on) const;

  /// For so many shards, each of which keeps at most conversations_max; the longest closed ones are forgotten
  /// first. Error: more than that are open, over all shards. Once.
  [[nodiscard]] Result<Recovered> take(uint32_t shards, uint32_t conversations_max);

  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  /// From which shard, and which of its conversations by when they were closed (the record's number).
  using ClosedOnes = std::map<uint64_t, RecoveredConversation*>;
  struct Origin {
    uint32_t conversations = 0;
    ClosedOnes closed;
  };
  struct IdHash {
    using is_transparent = void;
    size_t operator()(std::string_view id) const { return std::hash<std::string_view>{}(id); }
  };
  using ById =
      std::unordered_map<std::string, std::unique_ptr<RecoveredConversation>, IdHash, std::equal_to<>>;

  /// An item's payload, read; one of the pointers is null.
  struct ItemRecord {
    const wire::Message* message = nullptr;
    const wire::Event* event = nullptr;
    std::string_view conversation = {};
  };

  [[nodiscard]] Status dispatch(const journal::Record& record);
  [[nodiscard]] Result<ItemRecord> read_item(const journal::Record& record);
  [[nodiscard]] chat::RestoredMessage restored(const wire::Message& message) const;
  [[nodiscard]] static chat::RestoredEvent restored(const wire::Event& event, chat::GroupId group);
  [[nodiscard]] Result<RecoveredConversation*> add(const wire::ConversationFacts& facts, uint16_t shard);
  [[nodiscard]] Status apply_started(const journal::Record& record);
  [[nodiscard]] Status apply_conversation(const journal::Record& record);
  [[nodiscard]] Status apply_item(const journal::Record& record);
  [[nodiscard]] Status apply_event(const journal::Record& record, const wire::Event& event,
                                   RecoveredConversation& conversation);
  [[nodiscard]] Status apply_receipts(const journal::Record& record);
  [[nodiscard]] Status apply_presence(const journal::Record& record);
  [[nodiscard]] Status apply_block(const journal::Record& record);
  [[nodiscard]] Status apply_forgotten(const journal::Record& record);

  /// nullptr: it was forgotten.
  [[nodiscard]] Result<RecoveredConversation*> find(std::string_view id);
  void note(RecoveredConversation& conversation, uint64_t sequence, const wire::Event& event);
  [[nodiscard]] Status dispatch_snapshot(const journal::Record& record);
  [[nodiscard]] Status apply_state(const journal::Record& record);
  [[nodiscard]] Status apply_remembered(const journal::Record& record);
  [[nodiscard]] Status apply_kept(const journal::Record& record);
  [[nodiscard]] Status write_conversation(journal::SnapshotWriter& writer,
                                          const RecoveredConversation& conversation) const;
  void forget_oldest_closed(Origin& origin);
  void let_go(RecoveredConversation& conversation);
  void forget_unopened();
  void share_out(std::vector<RecoveredShard>& shards);

  /// Of a snapshot: the conversation whose items come, and from which message on it knows each sender.
  struct Loading {
    RecoveredConversation* conversation = nullptr;
    uint64_t last_seq = 0;
    std::map<std::pair<chat::PartyKind, std::string>, uint64_t> known_from;
  };

  const Options options_;
  uint64_t hash_seed_;
  Loading loading_;
  wire::RecordReader reader_;
  wire::ItemObject item_;
  ById conversations_;
  std::unordered_multimap<std::string_view, RecoveredConversation*> by_visitor_;
  std::unordered_map<uint16_t, Origin> origins_;
  std::map<std::string, RecoveredWord, std::less<>> words_;
  std::map<std::string, int64_t, std::less<>> blocked_;
  size_t blocked_looked_at_ = 0;  ///< how many there were when those that had passed were last forgotten
  bool begun_ = false;            ///< there was a snapshot or a record
  bool stopped_ = true;           ///< the record before was `stopped`, or there was none
  int64_t latest_ms_ = 0;
  uint64_t last_forgotten_ = 0;
  Counts counts_;
};

}  // namespace taut::gateway
