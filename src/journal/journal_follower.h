// Reading a journal behind its writer: each record once and in order, as soon as it is durable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/result.h"
#include "journal/journal_reader.h"
#include "journal/segments.h"

namespace taut::journal {

/// Keeps its place between calls, and 2 MiB of memory however long the journal is. It reads the files alone,
/// so the writer goes on meanwhile, and segments may be removed whose records it has read. Blocks on the
/// disk. One thread.
class JournalFollower {
 public:
  /// What one call reads at most; the record that reaches `payload_bytes` is the last one.
  struct Limits {
    size_t records = 0;
    size_t payload_bytes = 0;
  };

  /// From record `after` + 1 on; after 0: from the oldest one that there is. `files` outlives it.
  JournalFollower(FileSystem& files, std::string directory, uint64_t after);

  /// Visits the next records up to `up_to`, in order, and returns how many; 0: there is none. REQUIRES: all
  /// of them are durable. Error: they are no longer there, or are damaged; a newer taut's, the disk's, or the
  /// visitor's own. The next call begins with the record that was not visited well.
  [[nodiscard]] Result<size_t> read(uint64_t up_to, const Limits& limits, const RecordVisitor& visit);

  /// The last record that was visited, or what it began behind.
  [[nodiscard]] uint64_t position() const { return position_; }

 private:
  /// Where the record behind `sequence` stands.
  struct Place {
    uint64_t segment = 0;
    uint64_t sequence = 0;
    uint64_t offset = 0;
  };
  /// What is left of a call's limits.
  struct Course {
    uint64_t up_to = 0;
    Limits left;
    size_t visited = 0;

    [[nodiscard]] bool full() const { return left.records == 0 || left.payload_bytes == 0; }
  };

  [[nodiscard]] Result<Segment> segment_of_next() const;
  [[nodiscard]] Status read_segment(const Segment& segment, Course& course, const RecordVisitor& visit);

  FileSystem& files_;
  const std::string directory_;
  const std::unique_ptr<char[]> buffer_;
  uint64_t position_;
  Place place_;
};

}  // namespace taut::journal
