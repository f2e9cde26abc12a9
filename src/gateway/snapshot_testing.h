// For tests: a Recovery through a snapshot in memory.
#pragma once

#include <memory>
#include <string>

#include "base/assert.h"
#include "base/memory_files.h"
#include "gateway/recovery.h"
#include "journal/snapshot.h"

namespace taut::gateway {

/// The file that write_snapshot() makes.
[[nodiscard]] inline std::string snapshot_bytes(const Recovery& recovery) {
  MemoryFileSystem files;
  TAUT_ASSERT(files.create_directory("s").has_value());
  auto writer = journal::SnapshotWriter::open(files, "s", 1);
  TAUT_ASSERT(writer && recovery.write_snapshot(*writer, [] { return true; }) && writer->finish());
  return files.content((*journal::find_snapshot(files, "s"))->path);
}

/// A Recovery with these options that has read the file.
[[nodiscard]] inline Result<std::unique_ptr<Recovery>> recovery_of(const std::string& bytes,
                                                                   const Recovery::Options& options) {
  MemoryFileSystem files;
  TAUT_ASSERT(files.create_directory("s").has_value());
  const journal::SnapshotFile file{.path = "s/snapshot", .sequence = 1};
  files.set_content(file.path, bytes);
  auto recovery = std::make_unique<Recovery>(options);
  const auto read = journal::read_snapshot(
      files, file, [&](const journal::Record& record) { return recovery->apply_snapshot(record); });
  if (!read) return std::unexpected(read.error());
  if (const Status whole = recovery->finish_snapshot(); !whole) return std::unexpected(whole.error());
  return recovery;
}

}  // namespace taut::gateway
