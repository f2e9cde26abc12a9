// A memory resource for tests that counts what is taken from it and remembers the largest request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>

namespace taut::chat {

/// Passes on to the heap. One thread.
class CountingResource final : public std::pmr::memory_resource {
 public:
  [[nodiscard]] uint64_t allocations() const { return allocations_; }
  [[nodiscard]] size_t bytes_in_use() const { return bytes_in_use_; }
  [[nodiscard]] size_t largest() const { return largest_; }

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    ++allocations_;
    bytes_in_use_ += bytes;
    largest_ = std::max(largest_, bytes);
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* block, size_t bytes, size_t alignment) override {
    bytes_in_use_ -= bytes;
    std::pmr::new_delete_resource()->deallocate(block, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  uint64_t allocations_ = 0;
  size_t bytes_in_use_ = 0;
  size_t largest_ = 0;
};

}  // namespace taut::chat
