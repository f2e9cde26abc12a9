// The simulator's only source of chance: 64 bits at a time, the same from the same seed everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace taut::sim {

/// SplitMix64. One thread.
class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9E37'79B9'7F4A'7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EBULL;
    return z ^ (z >> 31);
  }
  /// 0 … n - 1. REQUIRES: n > 0.
  uint64_t below(uint64_t n) { return next() % n; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  /// REQUIRES: not empty.
  template <class Container>
  auto& pick(Container& from) {
    return from[static_cast<size_t>(below(from.size()))];
  }

 private:
  uint64_t state_;
};

}  // namespace taut::sim
