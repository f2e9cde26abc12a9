// The journal at the start of the server: what it tells is read, and its next part begun.
#pragma once

#include <cstdint>

#include "base/file.h"
#include "base/result.h"
#include "gateway/recovery.h"
#include "gateway/settings.h"
#include "journal/journal_writer.h"

namespace taut::gateway {

/// What was before, and where it goes on.
struct OpenedJournal {
  Recovered recovered;
  Recovery::Counts counts;
  uint64_t covered = 0;  ///< a snapshot stood for the records up to this one; 0: there was none
  /// The last record that forgets a visitor and whose files are there; where the snapshot may stand for it,
  /// the last that the snapshot stands for. 0: there is none.
  uint64_t forgotten = 0;
  bool clean = true;  ///< the server before this one was stopped well, or there was none
  journal::JournalWriter writer;
};

/// What all of a journal's readers agree on.
[[nodiscard]] Recovery::Options recovery_options(const Settings& settings, uint64_t hash_seed);

/// In the data directory of the settings, for so many shards. When it returns, this start is on the disk:
/// what a crash from now on undoes is told from what an earlier one did. The time of this start,
/// `recovered.latest_ms`, is later than all before, and wall_ms unless the clock went back. `hash_seed` as
/// for Recovery. Blocks. Error: the journal is damaged or of a newer version, does not fit into the settings,
/// or the disk refuses.
[[nodiscard]] Result<OpenedJournal> open_journal(FileSystem& files, const Settings& settings, uint32_t shards,
                                                 uint64_t hash_seed, int64_t wall_ms);

}  // namespace taut::gateway
