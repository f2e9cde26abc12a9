// Numbers that one thread writes and any thread may read, for the price of a plain store.
#pragma once

#include <atomic>
#include <cstdint>

namespace taut {

/// One 64-bit cell, written by its owner thread only: no locked instruction, and readers see some recent
/// value. Relaxed throughout: a metric orders nothing, so no access pairs with another.
class Counter {
 public:
  Counter() = default;
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  // -- owner thread --
  void add(uint64_t amount = 1) noexcept { set(value() + amount); }
  void set(uint64_t value) noexcept { cell_.store(value, std::memory_order_relaxed); }
  void raise_to(uint64_t least) noexcept {
    if (least > value()) set(least);
  }

  // -- any thread --
  [[nodiscard]] uint64_t value() const noexcept { return cell_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> cell_{0};
};

}  // namespace taut
