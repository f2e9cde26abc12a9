#include "journal/remains.h"

#include <algorithm>
#include <string_view>

#include "base/bytes.h"

namespace taut::journal {

namespace {

/// How many zeros `bytes` begins with: all of it, or a multiple of what records are aligned to.
size_t leading_zeros(std::string_view bytes) {
  size_t count = 0;
  while (bytes.size() - count >= sizeof(uint64_t)) {
    if (load_le<uint64_t>(bytes.data() + count) != 0) return count;
    count += sizeof(uint64_t);
  }
  static_assert(sizeof(uint64_t) == kRecordAlignment);
  return bytes.find_first_not_of('\0', count) == std::string_view::npos ? bytes.size() : count;
}

}  // namespace

Result<Remains> search_remains(FileWindow& file, uint64_t offset, uint64_t sequence) {
  Remains remains{.end = offset};
  while (true) {
    const Result<std::string_view> rest = file.at(offset, kRecordHeadBytes);
    if (!rest) return std::unexpected(rest.error());
    if (rest->empty()) return remains;
    if (const size_t zeros = leading_zeros(*rest); zeros > 0) {
      offset += zeros;
      continue;
    }
    remains.end = offset + rest->substr(0, kRecordAlignment).find_last_not_of('\0') + 1;
    if (rest->size() < kRecordHeadBytes || stored_sequence(*rest) < sequence) {
      offset += kRecordAlignment;
      continue;
    }
    const auto found = file.record_at(offset);
    if (!found) return std::unexpected(found.error());
    if (!*found) {
      offset += kRecordAlignment;
      continue;
    }
    const Record& record = (*found)->record;
    remains.sequence_max = std::max(remains.sequence_max, record.sequence);
    if (record.sequence > sequence && record.sequence - sequence > (*found)->batch_index)
      remains.proves_loss = true;
    offset += record_bytes(record.payload.size());
    remains.end = offset;
  }
}

}  // namespace taut::journal
