// Reading a journal from its first record to its end, and telling a torn tail from damage.
//
// A segment that begins with record n voids all records from n on in the segments before it: its writer had
// given those up. Behind the last record may stand the rest of a commit that a crash cut short, its sectors
// landed in any order. That is no damage, unless a valid record further on proves the opposite: one with
// batch index b and sequence s was written after everything below s − b was durable.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "journal/journal_end.h"
#include "journal/record.h"

namespace taut::journal {

/// Called with each record in order; its payload is valid during the call. An Error ends the reading with it.
using RecordVisitor = std::function<Status(const Record&)>;

/// A durable record that cannot be read. Everything before it can.
struct Damage {
  std::string what;           ///< a sentence: where, what, which records
  uint64_t segment = 0;       ///< nothing is usable from `offset` of this segment on
  uint64_t offset = 0;        ///< 0: not even its header
  uint64_t sequence = 0;      ///< the first record that is lost
  uint64_t sequence_max = 0;  ///< the last one of which a trace was found, or `sequence`
};

/// What there is in a journal, damaged or not.
struct JournalFindings {
  JournalEnd end;  ///< with damage: as if the journal ended there
  std::optional<Damage> damage;
  uint64_t segments = 0;  ///< files
};

/// Which records are wanted: from `after` + 1 to `up_to`. Those before may be there or not; what is behind is
/// not looked at, and then `end` says nothing.
struct JournalRange {
  uint64_t after = 0;
  uint64_t up_to = UINT64_MAX;
};

/// Reads the segments in `directory`; one that is not there holds no record. Other files in it are ignored.
/// Blocks on the disk; 2 MiB of memory, whatever the journal's size. Error: a file or the directory cannot be
/// read, a newer taut wrote it, or the visitor's own.
[[nodiscard]] Result<JournalFindings> examine_journal(FileSystem& files, const std::string& directory,
                                                      const RecordVisitor& visit, JournalRange range = {});

/// The same for whoever builds upon the records: damage is an Error that names the place and the remedy. The
/// records before it have been visited then.
[[nodiscard]] Result<JournalEnd> read_journal(FileSystem& files, const std::string& directory,
                                              const RecordVisitor& visit, JournalRange range = {});

}  // namespace taut::journal
