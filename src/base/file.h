// Files as a dependency: POSIX in production, memory with torn writes in a simulator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace taut {

/// An open file, read and written at given offsets; closed by its destructor. Every call may block on the
/// disk: never on a shard. One thread at a time.
class File {
 public:
  File() = default;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  virtual ~File() = default;

  /// Reserves blocks for the first `bytes` bytes and makes the file at least that long, zero-filled.
  [[nodiscard]] virtual Status preallocate(uint64_t bytes) = 0;
  /// Writes all parts one behind the other, starting at `offset`. After an error nothing is known about that
  /// range.
  [[nodiscard]] virtual Status write_at(uint64_t offset, std::span<const std::string_view> parts) = 0;
  /// Reads until `out` is full or the file ends; returns the bytes read.
  [[nodiscard]] virtual Result<size_t> read_at(uint64_t offset, std::span<char> out) = 0;
  /// fdatasync. After an error the file must not be synced again: the kernel may have dropped what was dirty.
  [[nodiscard]] virtual Status sync_data() = 0;
  [[nodiscard]] virtual Result<uint64_t> size() = 0;
};

/// That the path names something with an end: a pipe would make its reader wait. Error: it does not, or there
/// is nothing.
[[nodiscard]] Status check_regular_file(const std::string& path);

/// Where files come from. Any thread.
class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  /// The file's first `most` bytes, or all when it has fewer. A caller with a limit asks for one byte more
  /// than that, and words the complaint itself. Error: not readable, no regular file.
  [[nodiscard]] virtual Result<std::string> read_front(const std::string& path, size_t most) = 0;
  /// Opens for reading and writing, and creates it (mode 0600) if it is not there.
  [[nodiscard]] virtual Result<std::unique_ptr<File>> open(const std::string& path) = 0;
  /// Makes the creation, renaming and removal of a directory's files durable.
  [[nodiscard]] virtual Status sync_directory(const std::string& path) = 0;
};

/// The kernel's files.
class PosixFileSystem final : public FileSystem {
 public:
  [[nodiscard]] Result<std::string> read_front(const std::string& path, size_t most) override;
  [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path) override;
  [[nodiscard]] Status sync_directory(const std::string& path) override;
};

}  // namespace taut
