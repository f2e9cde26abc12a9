// A bounded FIFO that starts small and grows in steps of at most 64 KiB, without ever moving a full chunk.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory_resource>
#include <type_traits>

#include "base/assert.h"

namespace taut::chat {

/// Largest single allocation of a conversation's windows and logs, in bytes.
inline constexpr size_t kChunkBytesMax = size_t{64} * 1024;

/// Up to `limit` plain values, oldest first; a push beyond the limit overwrites the oldest.
/// Grows 16, 64, 256, … elements up to one chunk by copying, from then on chunk by chunk; once it holds
/// `limit` elements it allocates no more. Owns its memory, not what its elements point to. One thread.
template <class T, uint32_t kElementsMax>
class ChunkedRing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr uint32_t kPerChunk =
      static_cast<uint32_t>(std::bit_floor(std::min<size_t>(kChunkBytesMax / sizeof(T), 1024)));
  static constexpr uint32_t kChunks = (kElementsMax + kPerChunk - 1) / kPerChunk;
  static constexpr uint32_t kFirstElements = 16;

  /// REQUIRES: 0 < limit <= kElementsMax. `memory` outlives the ring and does not fail.
  ChunkedRing(uint32_t limit, std::pmr::memory_resource& memory) : memory_(&memory), limit_(limit) {
    TAUT_ASSERT(limit > 0 && limit <= kElementsMax);
  }
  ChunkedRing(const ChunkedRing&) = delete;
  ChunkedRing& operator=(const ChunkedRing&) = delete;
  ~ChunkedRing() { release(); }

  [[nodiscard]] uint32_t size() const { return size_; }
  [[nodiscard]] uint32_t capacity() const { return capacity_; }
  [[nodiscard]] bool full() const { return size_ == limit_; }

  /// The i-th oldest. REQUIRES: i < size().
  [[nodiscard]] T& operator[](uint32_t i) { return at_slot(slot_of(i)); }
  [[nodiscard]] const T& operator[](uint32_t i) const { return const_cast<ChunkedRing&>(*this)[i]; }

  /// Slots name elements for as long as they are held: an index may keep them. Slots are below kElementsMax.
  [[nodiscard]] uint32_t slot_of(uint32_t i) const {
    TAUT_DCHECK(i < size_);
    const uint32_t slot = head_ + i;
    return slot < limit_ ? slot : slot - limit_;
  }
  [[nodiscard]] T& at_slot(uint32_t slot) { return chunks_[slot / kPerChunk][slot % kPerChunk]; }
  [[nodiscard]] const T& at_slot(uint32_t slot) const { return chunks_[slot / kPerChunk][slot % kPerChunk]; }

  /// True when the next push needs memory.
  [[nodiscard]] bool must_grow() const { return size_ == capacity_ && size_ < limit_; }

  /// Adds the newest and answers its slot. REQUIRES: !full(), or the caller has looked at front() before: it
  /// goes.
  uint32_t push(const T& value) {
    if (full()) {
      const uint32_t slot = head_;
      at_slot(slot) = value;
      head_ = head_ + 1 < limit_ ? head_ + 1 : 0;
      return slot;
    }
    if (size_ == capacity_) grow();
    at_slot(size_) = value;  // the head is 0 until the ring is full
    return size_++;
  }

  /// Forgets everything and gives the memory back.
  void release() {
    for (uint32_t c = 0; c < kChunks; ++c) {
      if (chunks_[c] != nullptr) memory_->deallocate(chunks_[c], bytes_of(c), alignof(T));
      chunks_[c] = nullptr;
    }
    head_ = size_ = capacity_ = 0;
  }

 private:
  static constexpr uint32_t kGrowthFactor = 4;

  /// Only the first chunk is ever smaller than a full one.
  [[nodiscard]] size_t bytes_of(uint32_t chunk) const {
    return sizeof(T) * (chunk == 0 ? std::min(capacity_, kPerChunk) : kPerChunk);
  }

  void grow() {
    if (capacity_ >= kPerChunk) {
      chunks_[capacity_ / kPerChunk] = allocate(kPerChunk);
      capacity_ += kPerChunk;
      return;
    }
    const uint32_t wanted = capacity_ == 0 ? kFirstElements : capacity_ * kGrowthFactor;
    const uint32_t elements = std::min(wanted, kPerChunk);
    T* bigger = allocate(elements);
    if (chunks_[0] != nullptr) {
      std::copy_n(chunks_[0], size_, bigger);
      memory_->deallocate(chunks_[0], bytes_of(0), alignof(T));
    }
    chunks_[0] = bigger;
    capacity_ = elements;
  }

  [[nodiscard]] T* allocate(uint32_t elements) {
    return static_cast<T*>(memory_->allocate(elements * sizeof(T), alignof(T)));
  }

  std::pmr::memory_resource* memory_;
  uint32_t limit_;
  uint32_t head_ = 0;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;
  std::array<T*, kChunks> chunks_{};
};

}  // namespace taut::chat
