// Files as a dependency: POSIX in production, memory with torn writes in tests and simulators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  /// Makes the file exactly that long: what is behind goes, what is missing is zero.
  [[nodiscard]] virtual Status resize(uint64_t bytes) = 0;
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
  /// Opens what is there, for reading only. Error: not readable, no regular file.
  [[nodiscard]] virtual Result<std::unique_ptr<File>> open_for_reading(const std::string& path) = 0;
  /// Whether anything has this name. Error: it cannot be told.
  [[nodiscard]] virtual Result<bool> exists(const std::string& path) = 0;
  /// Puts the file in the place of `to`, whatever has that name; one step, also across a crash.
  [[nodiscard]] virtual Status rename(const std::string& from, const std::string& to) = 0;
  [[nodiscard]] virtual Status remove(const std::string& path) = 0;

  /// Creates it (mode 0700) if it is not there. REQUIRES: its parent is.
  [[nodiscard]] virtual Status create_directory(const std::string& path) = 0;
  /// The names in it without . and .., sorted.
  [[nodiscard]] virtual Result<std::vector<std::string>> list_directory(const std::string& path) = 0;
  /// Makes the creation, renaming and removal of a directory's files durable.
  [[nodiscard]] virtual Status sync_directory(const std::string& path) = 0;
};

/// The kernel's files.
class PosixFileSystem final : public FileSystem {
 public:
  [[nodiscard]] Result<std::string> read_front(const std::string& path, size_t most) override;
  [[nodiscard]] Result<std::unique_ptr<File>> open(const std::string& path) override;
  [[nodiscard]] Result<std::unique_ptr<File>> open_for_reading(const std::string& path) override;
  [[nodiscard]] Result<bool> exists(const std::string& path) override;
  [[nodiscard]] Status rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] Status remove(const std::string& path) override;
  [[nodiscard]] Status create_directory(const std::string& path) override;
  [[nodiscard]] Result<std::vector<std::string>> list_directory(const std::string& path) override;
  [[nodiscard]] Status sync_directory(const std::string& path) override;
};

}  // namespace taut
