// A log-linear histogram of durations, 1 ns to 1 hour, right to three significant digits.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.h"

namespace taut {

/// The plain cell: one thread reads and writes.
class PlainCell {
 public:
  [[nodiscard]] uint64_t load() const noexcept { return value_; }
  void store(uint64_t value) noexcept { value_ = value; }

 private:
  uint64_t value_ = 0;
};

/// Values below 2,048 have a bucket each; above, every power of two is cut into 1,024 buckets, so that a
/// bucket is never wider than 1/1,024 of its values. 270 KiB, allocated by the constructor; record() is a
/// handful of instructions without a branch. Values above kValueMax count as kValueMax, negative ones as 0.
///
/// With a cell type of relaxed atomics one thread may record while others read or merge from it (what they
/// see may be a few records apart between buckets); with PlainCell everything is one thread's.
template <class CellType = PlainCell>
class Histogram {
 public:
  static constexpr int64_t kValueMax = 3'600'000'000'000;  // 1 hour in ns
  static constexpr uint32_t kHalfBits = 10;                // 1,024 buckets a power of two: error < 0.1 %

  Histogram() : cells_(index_of(kValueMax) + 1) {}

  void record(int64_t value_ns) noexcept { record(value_ns, 1); }
  void record(int64_t value_ns, uint64_t times) noexcept {
    const auto value = static_cast<uint64_t>(std::clamp<int64_t>(value_ns, 0, kValueMax));
    max_.store(std::max(max_.load(), value));  // first: readers look no further
    add(cells_[index_of(value)], times);
    add(sum_, value * times);
  }

  /// Adds all that `other` holds, whatever its cells are.
  template <class OtherCell>
  void merge(const Histogram<OtherCell>& other) noexcept {
    for (size_t i = 0, used = other.used(); i < used; ++i) add(cells_[i], other.cells_[i].load());
    add(sum_, other.sum_.load());
    max_.store(std::max(max_.load(), other.max_.load()));
  }

  void reset() noexcept {
    for (size_t i = 0, used = this->used(); i < used; ++i) cells_[i].store(0);
    sum_.store(0);
    max_.store(0);
  }

  [[nodiscard]] uint64_t count() const noexcept {
    uint64_t n = 0;
    for (size_t i = 0, used = this->used(); i < used; ++i) n += cells_[i].load();
    return n;
  }
  /// Exact, except for values beyond kValueMax.
  [[nodiscard]] int64_t max_ns() const noexcept { return static_cast<int64_t>(max_.load()); }
  /// Of all recorded values, in ns. Grows for ever.
  [[nodiscard]] uint64_t sum_ns() const noexcept { return sum_.load(); }
  /// Exact; 0 when empty.
  [[nodiscard]] double mean_ns() const noexcept {
    const uint64_t n = count();
    return n == 0 ? 0.0 : static_cast<double>(sum_.load()) / static_cast<double>(n);
  }

  /// The largest value of the bucket in which the percentile lies, never more than max_ns(); 0 when empty.
  /// 100 gives max_ns(). REQUIRES: 0 <= percent <= 100. Walks the buckets up to the largest value: some
  /// microseconds.
  [[nodiscard]] int64_t percentile_ns(double percent) const noexcept {
    TAUT_ASSERT(percent >= 0.0 && percent <= 100.0);
    const uint64_t n = count();
    // The factor takes back what rounding added: 99.9 % of 1,000 is 999, not 999.0000000000001.
    const double exact = percent / 100.0 * static_cast<double>(n) * (1.0 - 1e-12);
    const uint64_t rank =
        std::clamp<uint64_t>(static_cast<uint64_t>(std::ceil(exact)), 1, std::max<uint64_t>(n, 1));
    uint64_t seen = 0;
    for (size_t i = 0, used = this->used(); i < used; ++i) {
      seen += cells_[i].load();
      if (seen >= rank) return std::min(highest_of(i), max_ns());
    }
    return max_ns();
  }

  /// Calls fn(lowest_ns, highest_ns, count) for every bucket that is not empty, ascending.
  template <class F>
  void for_each(F&& fn) const {
    for (size_t i = 0, used = this->used(); i < used; ++i) {
      const uint64_t n = cells_[i].load();
      if (n != 0) fn(lowest_of(i), highest_of(i), n);
    }
  }

  /// The bucket of a value: below 2,048 the value itself, above it the top 11 bits and their shift.
  [[nodiscard]] static constexpr size_t index_of(uint64_t value) noexcept {
    const auto shift = static_cast<uint32_t>(std::bit_width(value | kLinearMask)) - (kHalfBits + 1);
    return (size_t{shift} << kHalfBits) + static_cast<size_t>(value >> shift);
  }
  [[nodiscard]] static constexpr int64_t lowest_of(size_t index) noexcept {
    if (index <= kLinearMask) return static_cast<int64_t>(index);
    const size_t shift = (index >> kHalfBits) - 1;
    return static_cast<int64_t>((index - (shift << kHalfBits)) << shift);
  }
  [[nodiscard]] static constexpr int64_t highest_of(size_t index) noexcept {
    return lowest_of(index + 1) - 1;
  }

 private:
  template <class>
  friend class Histogram;
  static constexpr uint64_t kLinearMask = (uint64_t{1} << (kHalfBits + 1)) - 1;

  /// Buckets that may hold something.
  [[nodiscard]] size_t used() const noexcept { return index_of(max_.load()) + 1; }
  static void add(CellType& cell, uint64_t n) noexcept { cell.store(cell.load() + n); }

  std::vector<CellType> cells_;
  CellType sum_;
  CellType max_;
};

}  // namespace taut
