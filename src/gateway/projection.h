// The journal's records as the history takes them, a batch at a time.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "journal/record.h"
#include "store/stored_record.h"
#include "wire/record_reader.h"

namespace taut::gateway {

/// Holds copies of all that it was given. One thread.
class Projection {
 public:
  /// Error: the payload is not what its kind says; nothing was added.
  [[nodiscard]] Status add(const journal::Record& record);

  [[nodiscard]] std::span<const store::StoredRecord> records() const { return records_; }
  [[nodiscard]] bool empty() const { return records_.empty(); }
  void clear();

 private:
  [[nodiscard]] Status read(const journal::Record& record, store::StoredRecord& out);
  [[nodiscard]] Status read_item(std::string_view json, store::StoredRecord& out);
  [[nodiscard]] std::string_view keep(std::string_view text);

  wire::RecordReader reader_;
  wire::ItemObject item_;
  std::pmr::monotonic_buffer_resource memory_;
  std::vector<store::StoredRecord> records_;
};

}  // namespace taut::gateway
