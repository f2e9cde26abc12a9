// What stands behind a journal's last readable record: nothing, a torn commit, or the proof of damage.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "journal/file_window.h"

namespace taut::journal {

struct Remains {
  uint64_t end = 0;           ///< behind the last byte that is not zero, or where the search began
  bool proves_loss = false;   ///< the record that cannot be read was durable
  uint64_t sequence_max = 0;  ///< the highest of a valid record, or 0
};

/// Searches the file from `offset` to its end for records from `sequence` on, at every place where one can
/// begin. `sequence` is the one that cannot be read. No such record can hide in a payload: JSON has no zero
/// byte, and the head of every record has.
[[nodiscard]] Result<Remains> search_remains(FileWindow& file, uint64_t offset, uint64_t sequence);

}  // namespace taut::journal
