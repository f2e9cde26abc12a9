// The thread that keeps the journal short (gateway/compaction.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/file.h"
#include "core/cell.h"
#include "core/shard.h"
#include "gateway/compaction.h"

namespace taut::gateway {

/// Written by the compactor's thread.
struct CompactorMetrics {
  Cell snapshots;       ///< made
  Cell snapshot_bytes;  ///< of the latest
  Cell covered;         ///< the last record that it stands for
  Cell removed;         ///< segments
  Cell forgetting;      ///< level, 1: what forgotten visitors said is still in files of the journal
  Cell failures;
};

/// A member of the mesh that gets no mail: it looks at the journal every kLookNs on a thread that has what
/// the others leave of the processors, and waits for the disk in flush().
class Compactor final : public ShardProgram {
 public:
  static constexpr int64_t kLookNs = 1'000'000'000;
  static constexpr int64_t kPauseAfterFailureNs = 60'000'000'000;
  /// Snapshots for the sake of who is forgotten take at most one part in so many of the time.
  static constexpr int64_t kForgetPauses = 20;
  /// Items of closed conversations in a snapshot where a store has the rest.
  static constexpr uint64_t kClosedItemsKept = 50'000;

  /// wishes() and goes_on() as of compact_journal(), called on this thread. `committer` begins a segment when
  /// it gets `segment_wanted`. The references outlive it.
  Compactor(FileSystem& files, CompactionOptions options, std::function<CompactionWishes()> wishes,
            GoesOn goes_on, ShardId committer, CompactorMetrics& metrics);
  ~Compactor() override;

  void start(Shard& shard) override;
  void on_events(std::span<const PollEvent> /*events*/) override {}
  void on_mail(ShardId /*from*/, std::span<const Mail> /*batch*/) override {}
  void on_timer(Timer& timer) override;
  void flush() override;
  [[nodiscard]] bool has_work() const override { return false; }
  void continue_work() override {}
  void stop() override { stopping_ = true; }
  [[nodiscard]] bool stopped() const override { return true; }

 private:
  static constexpr uint32_t kLookTimer = 1;

  void look();
  void say(const Compacted& compacted, int64_t took_ns);
  /// Sees to it that what was forgotten up to that record leaves the journal's files.
  void forget(const Compacted& compacted, uint64_t forgotten);

  FileSystem& files_;
  const CompactionOptions options_;
  const std::function<CompactionWishes()> wishes_;
  const GoesOn goes_on_;
  const ShardId committer_;
  CompactorMetrics& metrics_;
  Shard* shard_ = nullptr;
  Timer look_{kLookTimer, 0};
  int64_t forget_at_ns_ = 0;  ///< no snapshot is made for the sake of who is forgotten before
  bool due_ = false;
  bool stopping_ = false;
};

}  // namespace taut::gateway
