// What a chat shard has given to the journal, what of it is durable, and whether more may come.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/shard.h"
#include "gateway/gateway_metrics.h"
#include "gateway/mails.h"
#include "journal/record.h"
#include "wire/chat_codes.h"
#include "wire/record_json.h"

namespace taut::gateway {

/// One per chat shard, its thread only. Records are numbered 1, 2, 3, … as this shard gives them; the
/// committer (gateway/committer.h) says up to which number they are durable. Never waits: what the disk has
/// not taken yet is bounded here, by refusing what would become more.
class JournalFeed {
 public:
  /// Un-durable at once; more, or one for longer, and the disk counts as refusing.
  static constexpr uint64_t kUndurableBytesMax = uint64_t{64} << 20;
  static constexpr uint64_t kUndurableRecordsMax = Shard::kOverflowMax / 2;
  static constexpr int64_t kUndurableNsMax = 5'000'000'000;

  struct Options {
    wire::Durability mode = wire::Durability::none;  ///< none: no journal
    ShardId committer = kNobody;
  };

  JournalFeed(Shard& shard, GatewayMetrics& metrics, const Options& options)
      : shard_(shard), metrics_(metrics), options_(options) {}
  JournalFeed(const JournalFeed&) = delete;
  JournalFeed& operator=(const JournalFeed&) = delete;

  [[nodiscard]] wire::Durability mode() const { return options_.mode; }
  [[nodiscard]] bool on() const { return options_.mode != wire::Durability::none; }

  /// What would change something is answered `storage` now, and what changes by itself waits in memory.
  [[nodiscard]] bool refuses() const {
    return refusing_ || bytes_ - durable_bytes_ >= kUndurableBytesMax ||
           number_ - durable_ >= kUndurableRecordsMax ||
           (number_ != durable_ && shard_.now_ns() - progress_ns_ >= kUndurableNsMax);
  }

  /// The number of the last record.
  [[nodiscard]] uint64_t number() const { return number_; }
  [[nodiscard]] bool is_durable(uint64_t number) const {
    return number == kOwed ? !owes_ && settled_ <= durable_ : number <= durable_;
  }

  /// What has happened so far is durable when this number is.
  [[nodiscard]] uint64_t latest() const { return owes_ ? kOwed : number_; }
  /// Something has happened and waits in memory until settle(), since the disk refuses.
  void owe() { owes_ = true; }
  /// All that waited has been given.
  void settle() {
    owes_ = false;
    settled_ = number_;
  }

  /// `bytes` bytes at `offset` of the block's data, which nobody changes any more; takes a reference of its
  /// own. Answers the record's number. REQUIRES: on(), the block is of this shard's pool.
  uint64_t append(journal::RecordType type, Block& block, uint32_t offset, uint32_t bytes, int64_t wall_ms);

  /// The same for a message of wire/record_json.h.
  template <class M>
  uint64_t append(journal::RecordType type, const M& message, int64_t wall_ms) {
    Block* block = encode(message);
    const uint64_t number = append(type, *block, 0, block->written, wall_ms);
    shard_.pool().release(block);
    return number;
  }

  /// The same for a word of which the last one about `key` counts. It is taken while the disk refuses, too,
  /// and follows as soon as it does not. Allocates then.
  template <class M>
  void append_latest(journal::RecordType type, std::string_view key, const M& message, int64_t wall_ms) {
    if (!refuses()) {
      append(type, message, wall_ms);
      return;
    }
    Block* block = encode(message);
    keep_latest(type, key, *block, wall_ms);
    shard_.pool().release(block);
  }

  void on_durable(const DurableMail& durable);

 private:
  /// The number of what has none yet; durable when all that was owed is.
  static constexpr uint64_t kOwed = UINT64_MAX;

  struct Latest {
    std::string json;
    int64_t time_ms = 0;
  };

  template <class M>
  [[nodiscard]] Block* encode(const M& message) {
    Block* block = shard_.pool().allocate_anyway(static_cast<uint32_t>(wire::max_size(message)));
    block->written = wire::write({block->data(), wire::max_size(message)}, message);
    return block;
  }
  void keep_latest(journal::RecordType type, std::string_view key, const Block& block, int64_t wall_ms);
  void append_kept();

  Shard& shard_;
  GatewayMetrics& metrics_;
  const Options options_;
  uint64_t number_ = 0;
  uint64_t durable_ = 0;
  uint64_t bytes_ = 0;  ///< of all records so far
  uint64_t durable_bytes_ = 0;
  int64_t progress_ns_ = 0;  ///< when something became durable, or was the first not to be
  uint64_t settled_ = 0;     ///< the last record of what was owed
  bool owes_ = false;
  bool refusing_ = false;                                                 ///< as the committer says
  std::map<std::pair<journal::RecordType, std::string>, Latest> latest_;  ///< of append_latest()
};

}  // namespace taut::gateway
