// The journal kept short: what it tells up to a record is put into a snapshot, and its files up to there go.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "gateway/recovery.h"

namespace taut::gateway {

struct CompactionOptions {
  std::string directory;  ///< the journal's
  Recovery::Options recovery;
  /// Of closed conversations, as of Recovery::thin_closed(). Where there is no history all are kept.
  uint64_t closed_items_max = UINT64_MAX;
};

/// What one look at the journal led to.
struct Compacted {
  uint64_t covered = 0;  ///< the newest snapshot stands for the records up to this one
  uint64_t bytes = 0;    ///< of the snapshot, if one was made now; else 0
  uint64_t removed = 0;  ///< segments that are gone now
  uint64_t settled = 0;  ///< a snapshot may stand for the records up to this one
  uint64_t gone = 0;  ///< of the records up to this one no file of the journal is left, but for the snapshot
};

/// What somebody else needs of the journal.
struct CompactionWishes {
  uint64_t keep_from = UINT64_MAX;  ///< records from this one on
  uint64_t forgotten = 0;           ///< a record for which a snapshot is to stand as soon as that can be, for
                                    ///< what it forgets is in the files before it
};

/// Makes a snapshot if the settled segments behind the last one are at least as long as that, so that a
/// record is written again at most twice on average; a journal that fills no segment has none. It is made of
/// the journal's own files (the snapshot before it and the records behind), not of what the shards have in
/// memory, so no shard takes part and what a start would read is what was read. Then removes the segments
/// that the newest snapshot covers and whose records are below `keep_from`. Where a visitor is to be
/// forgotten there is a snapshot sooner.
///
/// Blocks, for seconds with a long snapshot, and needs the memory that a start needs. Meanwhile a writer may
/// go on. goes_on() is asked now and then; false ends it with nothing done. Error: the disk's, or the journal
/// is damaged; nothing is lost, and it may be tried again. One thread.
[[nodiscard]] Result<Compacted> compact_journal(FileSystem& files, const CompactionOptions& options,
                                                const CompactionWishes& wishes, const GoesOn& goes_on);

/// Feeds the newest snapshot in `directory` to `recovery`. Returns the last record that it covers; 0: there
/// is none. Error: it is damaged, or does not fit. Blocks.
[[nodiscard]] Result<uint64_t> read_newest_snapshot(FileSystem& files, const std::string& directory,
                                                    Recovery& recovery, const GoesOn& goes_on);

}  // namespace taut::gateway
