// How long conversations of one group have waited lately.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace taut::chat {

/// The last kKept waits and their median. One thread.
class WaitHistory {
 public:
  static constexpr uint32_t kKept = 50;
  /// With fewer nothing is known.
  static constexpr uint32_t kNeeded = 5;

  void add(int64_t wait_ns) {
    waits_ns_[next_] = wait_ns;
    next_ = (next_ + 1) % kKept;
    size_ = std::min(size_ + 1, kKept);
    known_ = false;
  }

  /// Of an even number the lower one of the two in the middle.
  [[nodiscard]] std::optional<int64_t> median_ns() {
    if (size_ < kNeeded) return std::nullopt;
    if (!known_) {
      std::array<int64_t, kKept> sorted = waits_ns_;
      const auto middle = sorted.begin() + (size_ - 1) / 2;
      std::nth_element(sorted.begin(), middle, sorted.begin() + size_);
      median_ns_ = *middle;
      known_ = true;
    }
    return median_ns_;
  }

 private:
  std::array<int64_t, kKept> waits_ns_{};
  uint32_t next_ = 0;
  uint32_t size_ = 0;
  bool known_ = false;  ///< median_ns_ is that of these waits
  int64_t median_ns_ = 0;
};

}  // namespace taut::chat
