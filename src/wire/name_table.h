// A perfect hash over a handful of names, found at compile time: the word of a field or type to its index.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace taut::wire {

/// Up to 63 non-empty names of at most 16 bytes. Two names are told apart by their first byte, last byte and
/// length; when no multipliers separate all of them, the table does not compile.
template <size_t N>
class NameTable {
 public:
  consteval explicit NameTable(const std::array<std::string_view, N>& names) : names_(names) {
    static_assert(N < kSlots / 2);
    for (first_ = 1; first_ < kSlots; ++first_) {
      for (last_ = 1; last_ < kSlots; ++last_) {
        if (fill()) return;
      }
    }
    throw "no perfect hash for these names";  // reached only while compiling
  }

  /// The name's index, or -1. Any thread.
  [[nodiscard]] constexpr int find(std::string_view name) const {
    if (name.empty()) return -1;
    const int8_t index = slots_[hash(name)];
    if (index < 0 || names_[static_cast<size_t>(index)] != name) return -1;
    return index;
  }

  [[nodiscard]] constexpr std::string_view name(size_t index) const { return names_[index]; }

 private:
  static constexpr uint32_t kSlots = 128;

  [[nodiscard]] constexpr uint32_t hash(std::string_view name) const {
    const auto first = static_cast<uint8_t>(name.front());
    const auto last = static_cast<uint8_t>(name.back());
    return (first * first_ + last * last_ + static_cast<uint32_t>(name.size())) % kSlots;
  }

  consteval bool fill() {
    slots_.fill(-1);
    for (size_t i = 0; i < N; ++i) {
      int8_t& slot = slots_[hash(names_[i])];
      if (slot >= 0) return false;
      slot = static_cast<int8_t>(i);
    }
    return true;
  }

  std::array<std::string_view, N> names_;
  std::array<int8_t, kSlots> slots_{};
  uint32_t first_ = 0;
  uint32_t last_ = 0;
};

}  // namespace taut::wire
