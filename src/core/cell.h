// A number that one thread writes and any thread reads: the stuff metrics are made of.
#pragma once

#include <atomic>
#include <cstdint>

namespace taut {

/// 64 bits. store() and add() belong to one thread (the owner of whatever is counted), load() to everybody.
/// An add is a plain load, add and store, no locked instruction. Relaxed without a pair on purpose: a cell
/// publishes nothing but itself, and a reader may see it a moment late.
class Cell {
 public:
  [[nodiscard]] uint64_t load() const noexcept { return value_.load(std::memory_order_relaxed); }
  void store(uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(uint64_t n) noexcept { store(load() + n); }
  void subtract(uint64_t n) noexcept { store(load() - n); }

 private:
  std::atomic<uint64_t> value_{0};
};

}  // namespace taut
