// The thread that writes the journal: records of all chat shards in, their durability back.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/cell.h"
#include "core/live_histogram.h"
#include "core/shard.h"
#include "gateway/layout.h"
#include "gateway/mails.h"
#include "hub/block_return.h"
#include "journal/journal_writer.h"

namespace taut::gateway {

/// Written by the committer's thread.
struct CommitterMetrics {
  Cell durable;   ///< the last record of the journal that is
  Cell records;   ///< made durable
  Cell bytes;     ///< their payloads
  Cell commits;   ///< that succeeded
  Cell failures;  ///< that did not
  /// The last record that forgets a visitor; as long as no snapshot stands for it, what it is about is on
  /// disk.
  Cell forgotten;
  Cell refusing;  ///< level, 1: the disk does not take what there is
  LiveHistogram commit_ns;
};

/// A member of the mesh on a thread of its own that parks, never spins, and waits for the disk at the end of
/// its turns. A commit takes everything that came during the last one (group commit), so the batch grows with
/// the load by itself. Shards hear of it by DurableMail and get their blocks back.
///
/// After a failure nothing is lost here: the records stay, the writer goes on in a new segment at the next
/// attempt, every kRetryNs; meanwhile shards know that the disk refuses, and bound what they send.
class Committer final : public ShardProgram {
 public:
  static constexpr int64_t kRetryNs = 200'000'000;

  struct Options {
    int64_t linger_ns = 0;   ///< a commit waits so long for more records to come
    bool gives_way = false;  ///< takes no core from a shard: nobody's message waits for the disk
  };

  /// The references outlive it; `writer` is used by no other thread from start() to the end of the thread.
  Committer(journal::JournalWriter& writer, const Layout& layout, const Options& options,
            CommitterMetrics& metrics);
  ~Committer() override;

  void start(Shard& shard) override;
  void on_events(std::span<const PollEvent> events) override;
  void on_mail(ShardId from, std::span<const Mail> batch) override;
  void on_timer(Timer& timer) override;
  void flush() override;
  [[nodiscard]] bool has_work() const override { return again_; }
  void continue_work() override { again_ = false; }
  /// Commits what is there, and `stopped` when nothing is left. REQUIRES: the shards have stopped.
  void stop() override;
  [[nodiscard]] bool stopped() const override { return ended_; }

 private:
  static constexpr uint32_t kLingerTimer = 1;
  static constexpr uint32_t kRetryTimer = 2;
  /// A batch of so many payload bytes waits for nothing more.
  static constexpr uint64_t kBatchBytesMax = uint64_t{4} << 20;

  struct Pending {
    Block* block = nullptr;
    uint32_t bytes = 0;
    ShardId from = 0;
  };
  /// What is durable of one shard's records.
  struct Durable {
    uint64_t records = 0;
    uint64_t bytes = 0;
    bool changed = false;
  };

  void take(ShardId from, const JournalMail& mail);
  void commit();
  /// The first `count` pending records are durable.
  void finish(size_t count);
  void fail(const Error& error);
  void begin_segment();
  void flush_last(bool brought_mail);
  void end();
  void write_end();
  void tell_shards(bool everybody);

  journal::JournalWriter& writer_;
  const Layout layout_;
  const Options options_;
  CommitterMetrics& metrics_;
  Shard* shard_ = nullptr;
  std::unique_ptr<hub::BlockReturn> back_;
  std::vector<Pending> pending_;  ///< in the order in which the writer got them
  uint64_t pending_bytes_ = 0;
  std::vector<Durable> durable_;  ///< by chat shard
  Timer linger_{kLingerTimer, 0};
  Timer retry_{kRetryTimer, 0};
  uint64_t forgotten_ = 0;     ///< the last record that forgets a visitor, durable or not
  bool segment_due_ = false;   ///< the next record is to begin a segment
  bool more_to_come_ = false;  ///< this turn brought a full batch: more waits in that ring
  bool again_ = false;         ///< the next turn takes it before anything is committed
  bool refusing_ = false;
  bool warned_ = false;        ///< said that the next segment could not be prepared
  bool brought_mail_ = false;  ///< this turn
  bool stopping_ = false;
  bool ended_ = false;
};

}  // namespace taut::gateway
