// Objects in slots with stable addresses, named by Handles that outlive them harmlessly.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/handle.h"

namespace taut {

/// Owner thread only. Chunks of kChunk slots are allocated when first needed and kept; a slot's generation
/// grows with every erase, so find() of an old handle gives nullptr (after 16 million reuses of one slot it
/// wraps).
template <class T>
class SlotMap {
 public:
  static constexpr uint32_t kChunk = 64;

  explicit SlotMap(uint32_t shard) : shard_(shard) {}
  SlotMap(const SlotMap&) = delete;
  SlotMap& operator=(const SlotMap&) = delete;
  ~SlotMap() {
    for_each([](Handle, T& value) { std::destroy_at(&value); });
  }

  /// Constructs T(handle, args...) if T takes its handle first, else T(args...).
  template <class... Args>
  T& emplace(Args&&... args) {
    if (free_.empty()) grow();
    const uint32_t index = free_.back();
    free_.pop_back();
    Slot& slot = at(index);
    const Handle handle(shard_, slot.generation, index);
    T* value = nullptr;
    if constexpr (std::is_constructible_v<T, Handle, Args...>) {
      value = std::construct_at(slot.pointer(), handle, std::forward<Args>(args)...);
    } else {
      value = std::construct_at(slot.pointer(), std::forward<Args>(args)...);
    }
    slot.used = true;
    ++size_;
    return *value;
  }

  [[nodiscard]] T* find(Handle handle) {
    if (handle.shard() != shard_ || handle.slot() >= chunks_.size() * kChunk) return nullptr;
    Slot& slot = at(handle.slot());
    return slot.used && slot.generation == handle.generation() ? slot.pointer() : nullptr;
  }

  /// REQUIRES: find(handle) is not null.
  void erase(Handle handle) {
    T* value = find(handle);
    TAUT_ASSERT(value != nullptr);
    std::destroy_at(value);
    Slot& slot = at(handle.slot());
    slot.used = false;
    slot.generation = (slot.generation + 1) & 0xFF'FFFFU;
    if (slot.generation == 0) slot.generation = 1;
    free_.push_back(handle.slot());
    --size_;
  }

  [[nodiscard]] uint32_t size() const { return size_; }

  /// Calls fn(handle, value) for every object; fn may erase the one it was given.
  template <class F>
  void for_each(F&& fn) {
    for (uint32_t index = 0; index < chunks_.size() * kChunk; ++index) {
      Slot& slot = at(index);
      if (slot.used) fn(Handle(shard_, slot.generation, index), *slot.pointer());
    }
  }

 private:
  struct Slot {
    alignas(T) std::array<std::byte, sizeof(T)> storage;
    uint32_t generation = 1;
    bool used = false;
    T* pointer() { return std::launder(reinterpret_cast<T*>(storage.data())); }
  };

  Slot& at(uint32_t index) { return (*chunks_[index / kChunk])[index % kChunk]; }

  void grow() {
    const auto first = static_cast<uint32_t>(chunks_.size()) * kChunk;
    chunks_.push_back(std::make_unique<std::array<Slot, kChunk>>());
    free_.reserve(chunks_.size() * kChunk);
    for (uint32_t i = kChunk; i-- > 0;) free_.push_back(first + i);
  }

  uint32_t shard_;
  uint32_t size_ = 0;
  std::vector<std::unique_ptr<std::array<Slot, kChunk>>> chunks_;
  std::vector<uint32_t> free_;
};

}  // namespace taut
