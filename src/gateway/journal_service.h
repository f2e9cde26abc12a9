// The journal as a part of the server: opened at the start, written by a thread of its own, ended last.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "core/log_ring.h"
#include "gateway/committer.h"
#include "gateway/compactor.h"
#include "gateway/layout.h"
#include "gateway/open_journal.h"
#include "gateway/settings.h"

namespace taut::gateway {

/// Main thread only, but for the committer and the compactor.
class JournalService {
 public:
  /// As open_journal(). keep_from() as of the compactor, `leaving` is 1 from the moment at which the server
  /// is told to stop. All references outlive it.
  [[nodiscard]] static Result<std::unique_ptr<JournalService>> open(FileSystem& files,
                                                                    const Settings& settings,
                                                                    const Layout& layout, uint64_t hash_seed,
                                                                    int64_t wall_ms, const Cell& leaving,
                                                                    std::function<uint64_t()> keep_from);
  JournalService(FileSystem& files, const Settings& settings, const Layout& layout, OpenedJournal opened,
                 const Cell& leaving, std::function<uint64_t()> keep_from);

  /// What was before; once.
  [[nodiscard]] Recovered take_recovered() { return std::exchange(opened_.recovered, {}); }
  /// What came of the start, as lines of the log.
  void say_what_was_recovered(LogRing& log) const;

  /// What runs on a thread of its own, and is the last to end: when it has, all that shards said is written,
  /// and that this is the end.
  [[nodiscard]] Committer& committer() { return committer_; }
  [[nodiscard]] const CommitterMetrics& metrics() const { return metrics_; }
  /// Runs on a thread of its own, which ends before the committer's.
  [[nodiscard]] Compactor& compactor() { return compactor_; }
  [[nodiscard]] const CompactorMetrics& compactor_metrics() const { return compactor_metrics_; }

 private:
  const Settings& settings_;
  OpenedJournal opened_;
  CommitterMetrics metrics_;
  CompactorMetrics compactor_metrics_;
  Committer committer_;
  Compactor compactor_;
};

}  // namespace taut::gateway
