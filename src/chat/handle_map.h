// From a handle to a number, in a table that is made at its limit and never rehashes.
#pragma once

#include <bit>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "base/handle.h"

namespace taut::chat {

/// At most `limit` handles; at most half the cells are ever taken, and erasing leaves no tombstones. One
/// thread.
class HandleMap {
 public:
  HandleMap(uint32_t limit, std::pmr::memory_resource& memory)
      : cells_(std::bit_ceil(uint64_t{limit} * 2 + 2), &memory), limit_(limit) {}

  [[nodiscard]] uint32_t size() const { return size_; }

  [[nodiscard]] std::optional<uint32_t> find(Handle key) const {
    for (size_t i = home_of(key); cells_[i].key; i = next(i)) {
      if (cells_[i].key == key) return cells_[i].value;
    }
    return std::nullopt;
  }

  /// REQUIRES: a handle that names something and is not in the map; size() < limit.
  void insert(Handle key, uint32_t value) {
    TAUT_ASSERT(key && size_ < limit_);
    size_t i = home_of(key);
    for (; cells_[i].key; i = next(i)) TAUT_ASSERT(cells_[i].key != key);
    cells_[i] = {key, value};
    ++size_;
  }

  /// REQUIRES: the handle is in the map.
  void erase(Handle key) {
    size_t hole = home_of(key);
    while (cells_[hole].key != key) {
      TAUT_ASSERT(cells_[hole].key);
      hole = next(hole);
    }
    // Pull back each later cell of the run that may stand in the hole.
    for (size_t i = next(hole); cells_[i].key; i = next(i)) {
      const size_t distance = (i - home_of(cells_[i].key)) & mask();
      if (distance < ((i - hole) & mask())) continue;
      cells_[hole] = cells_[i];
      hole = i;
    }
    cells_[hole] = {};
    --size_;
  }

 private:
  struct Cell {
    Handle key;
    uint32_t value = 0;
  };

  [[nodiscard]] size_t mask() const { return cells_.size() - 1; }
  [[nodiscard]] size_t next(size_t i) const { return (i + 1) & mask(); }
  /// Handles are dense numbers, not chosen by clients: one multiplication spreads them (Fibonacci hashing).
  [[nodiscard]] size_t home_of(Handle key) const {
    const uint64_t mixed = (key.bits() ^ key.bits() >> 32) * 0x9E37'79B9'7F4A'7C15ULL;
    return (mixed >> 32) & mask();
  }

  std::pmr::vector<Cell> cells_;
  uint32_t limit_;
  uint32_t size_ = 0;
};

}  // namespace taut::chat
