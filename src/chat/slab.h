// Records with a number and a fixed address, made in chunks and reused.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <new>
#include <vector>

#include "base/assert.h"
#include "chat/chunked_ring.h"

namespace taut::chat {

/// Up to `limit` records of T, numbered from 0; a record keeps its number and its address until it is
/// destroyed, and numbers are reused, the last freed first. Chunks of at most kChunkBytesMax are never given
/// back. One thread.
template <class T>
class Slab {
  static_assert(sizeof(T) <= kChunkBytesMax);

 public:
  static constexpr uint32_t kPerChunk = static_cast<uint32_t>(std::bit_floor(kChunkBytesMax / sizeof(T)));

  /// `memory` outlives the slab and does not fail.
  Slab(uint32_t limit, std::pmr::memory_resource& memory)
      : memory_(&memory), chunks_(&memory), limit_(limit) {
    chunks_.reserve((uint64_t{limit} + kPerChunk - 1) / kPerChunk);
  }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab() {
    TAUT_ASSERT(size_ == 0);
    for (Cell* chunk : chunks_) memory_->deallocate(chunk, kPerChunk * sizeof(Cell), alignof(Cell));
  }

  [[nodiscard]] uint32_t size() const { return size_; }
  [[nodiscard]] bool full() const { return size_ == limit_; }

  /// REQUIRES: the number is that of a living record.
  [[nodiscard]] T& operator[](uint32_t number) { return cell(number).value; }
  [[nodiscard]] const T& operator[](uint32_t number) const { return const_cast<Slab&>(*this)[number]; }

  /// A new record, made from nothing. REQUIRES: !full().
  [[nodiscard]] uint32_t create() {
    TAUT_ASSERT(!full());
    uint32_t number = free_;
    if (number != kNone) {
      free_ = cell(number).next_free;
    } else {
      number = made_++;
      if (number % kPerChunk == 0) chunks_.push_back(allocate());
    }
    ++size_;
    new (&cell(number).value) T();
    return number;
  }

  void destroy(uint32_t number) {
    cell(number).value.~T();
    cell(number).next_free = free_;
    free_ = number;
    --size_;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  union Cell {
    Cell() {}
    ~Cell() {}
    T value;
    uint32_t next_free;
  };

  [[nodiscard]] Cell& cell(uint32_t number) { return chunks_[number / kPerChunk][number % kPerChunk]; }
  [[nodiscard]] Cell* allocate() {
    return static_cast<Cell*>(memory_->allocate(kPerChunk * sizeof(Cell), alignof(Cell)));
  }

  std::pmr::memory_resource* memory_;
  std::pmr::vector<Cell*> chunks_;
  uint32_t limit_;
  uint32_t made_ = 0;
  uint32_t size_ = 0;
  uint32_t free_ = kNone;
};

}  // namespace taut::chat
