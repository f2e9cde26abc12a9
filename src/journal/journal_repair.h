// Cutting a damaged journal off where the damage begins, so that a server can go on from what is whole.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace taut::journal {

struct JournalRepair {
  uint64_t records = 0;           ///< what remains: up to this
  uint64_t sequence_max = 0;      ///< the last record of which a trace was lost; at most `records`: none was
  std::vector<std::string> kept;  ///< files that hold what was taken away; empty: nothing was damaged
};

/// Takes away everything from the damaged place on: a segment with a readable beginning keeps it and is
/// copied as a whole to `….damaged`, those behind it are renamed so. A crash in between leaves a journal that
/// is damaged as before, or repaired. Blocks on the disk. Error: the disk's, or a newer taut's files.
/// REQUIRES: no writer has the journal open.
[[nodiscard]] Result<JournalRepair> repair_journal(FileSystem& files, const std::string& directory);

}  // namespace taut::journal
