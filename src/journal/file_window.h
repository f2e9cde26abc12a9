// A file seen through one buffer, and the record at a place of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/file.h"
#include "base/result.h"
#include "journal/format.h"

namespace taut::journal {

/// Holds some stretch of the file and reads another when that is needed. One thread; owns nothing.
class FileWindow {
 public:
  /// A larger one reads the file in fewer calls.
  static constexpr size_t kBufferBytes = 2 * kPayloadBytesMax;
  static_assert(kBufferBytes >= kRecordBytesMax);

  /// REQUIRES: the buffer holds what is asked for at once. Both outlive the window.
  FileWindow(File& file, std::span<char> buffer) : file_(file), buffer_(buffer) {}

  /// The bytes from `offset` on, at least `wanted` or up to the file's end. Valid until the next call.
  [[nodiscard]] Result<std::string_view> at(uint64_t offset, size_t wanted);

  /// The record that begins at `offset`, or nothing when none does that is whole. Its payload is valid until
  /// the next call.
  [[nodiscard]] Result<std::optional<StoredRecord>> record_at(uint64_t offset);

 private:
  File& file_;
  const std::span<char> buffer_;
  uint64_t begin_ = 0;   ///< which stretch of the file is in the buffer
  size_t size_ = 0;      ///< of it
  bool at_end_ = false;  ///< the file ends with it
};

}  // namespace taut::journal
