// A snapshot: a file beside the segments whose records stand for all up to one of the journal.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "journal/journal_reader.h"
#include "journal/record.h"

namespace taut::journal {

struct SnapshotFile {
  std::string path;
  uint64_t sequence = 0;  ///< the last record of the journal that it covers
};

/// The newest one in `directory`, by its name alone. Error: the directory cannot be read.
[[nodiscard]] Result<std::optional<SnapshotFile>> find_snapshot(FileSystem& files,
                                                                const std::string& directory);

/// Visits its records in order; their sequence numbers are 1, 2, 3, … Returns the file's bytes. Blocks.
/// Error: the file is damaged or a newer taut's, names another record than it says, cannot be read; or the
/// visitor's.
[[nodiscard]] Result<uint64_t> read_snapshot(FileSystem& files, const SnapshotFile& snapshot,
                                             const RecordVisitor& visit);

/// Writes one. It has its name, and counts, from a successful finish() on. Without that its file goes with
/// the writer; a crash leaves it as `….part`, which nobody reads. One thread; blocks; uses at most 2 MiB.
class SnapshotWriter {
 public:
  SnapshotWriter(SnapshotWriter&&) = default;
  SnapshotWriter& operator=(SnapshotWriter&&) = delete;
  ~SnapshotWriter();

  /// Whatever an earlier attempt left under that name is removed, and not written to again.
  [[nodiscard]] static Result<SnapshotWriter> open(FileSystem& files, const std::string& directory,
                                                   uint64_t sequence);

  /// REQUIRES: at most kPayloadBytesMax; the payload is not needed after the call.
  [[nodiscard]] Status append(const Record& record);
  /// All is on the disk afterwards. Error: there is no snapshot. The last call.
  [[nodiscard]] Status finish();
  [[nodiscard]] uint64_t bytes() const { return written_ + buffer_.size(); }

 private:
  SnapshotWriter(FileSystem& files, const std::string& directory, uint64_t sequence);

  [[nodiscard]] Status write_out();
  [[nodiscard]] std::string part_path() const;

  FileSystem* files_;
  std::string directory_;
  uint64_t sequence_;
  std::unique_ptr<File> file_;
  std::string buffer_;  ///< what is not in the file yet
  uint64_t written_ = 0;
  uint64_t records_ = 0;
};

/// Removes the snapshots in `directory` but the one that covers most, what an attempt has left, and the
/// segments whose records are all at or below both `keep_from` − 1 and what the snapshot covers. Returns how
/// many segments. REQUIRES: no writer opens the journal meanwhile (one may go on). Blocks.
[[nodiscard]] Result<uint64_t> remove_covered(FileSystem& files, const std::string& directory,
                                              uint64_t keep_from);

/// Records up to this one have been removed, a snapshot stands for them; 0: none have.
[[nodiscard]] Result<uint64_t> removed_through(FileSystem& files, const std::string& directory);

}  // namespace taut::journal
