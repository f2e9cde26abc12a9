#include "journal/file_window.h"

#include "base/assert.h"

namespace taut::journal {

Result<std::string_view> FileWindow::at(uint64_t offset, size_t wanted) {
  TAUT_ASSERT(wanted <= buffer_.size());
  const bool inside = offset >= begin_ && offset - begin_ <= size_;
  if (!inside || (size_ - (offset - begin_) < wanted && !at_end_)) {
    const Result<size_t> size = file_.read_at(offset, buffer_);
    if (!size) return std::unexpected(size.error());
    begin_ = offset;
    size_ = *size;
    at_end_ = size_ < buffer_.size();
  }
  return std::string_view(buffer_.data(), size_).substr(offset - begin_);
}

Result<std::optional<StoredRecord>> FileWindow::record_at(uint64_t offset) {
  const auto head = at(offset, kRecordHeadBytes);
  if (!head) return std::unexpected(head.error());
  if (head->size() < kRecordHeadBytes) return std::nullopt;
  const uint64_t bytes = stored_record_bytes(*head);
  if (bytes == 0) return std::nullopt;
  const auto whole = at(offset, bytes);
  if (!whole) return std::unexpected(whole.error());
  if (whole->size() < bytes) return std::nullopt;
  return decode_record(whole->substr(0, bytes));
}

}  // namespace taut::journal
