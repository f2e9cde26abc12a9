// Where a journal ends: what a reader found out and the next writer goes on from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace taut::journal {

/// Bytes behind the last record that are no record: a write that a crash cut short. None of it was ever
/// durable.
struct TornTail {
  std::string file;
  uint64_t offset = 0;
  uint64_t bytes = 0;  ///< up to the last one that is not zero; 0: nothing is torn
};

/// The last commit in the journal. Whether it reached the disk cannot be told from what is read (it may be in
/// the kernel's memory alone, even after a failed sync), so the next writer writes it once more.
struct LastBatch {
  std::string file;
  uint64_t offset = 0;
  uint64_t bytes = 0;  ///< 0: the journal has no record
  uint64_t first_sequence = 1;
};

/// Of an empty journal unless said otherwise.
struct JournalEnd {
  uint64_t next_sequence = 1;
  uint64_t next_segment = 1;
  bool clean = true;  ///< the last record that was read is `stopped`, or there has never been one
  TornTail torn;
  LastBatch last_batch;
  std::vector<std::string>
      blank;  ///< files prepared as segments and never begun; the next writer removes them
};

}  // namespace taut::journal
