// A 64-bit name for a slot on a shard that stays harmless after the slot was freed and reused.
#pragma once

#include <cstdint>

namespace taut {

/// Where something lives: shard (8 bits), generation of the slot (24), slot (32). A plain value for rings and
/// queues: whoever receives one looks it up at its home and gets nothing when the generation has moved on.
/// The zero handle names nothing; generations start at 1.
class Handle {
 public:
  constexpr Handle() = default;
  constexpr Handle(uint32_t shard, uint32_t generation, uint32_t slot)
      : bits_((uint64_t{shard & 0xFFU} << 56) | (uint64_t{generation & 0xFF'FFFFU} << 32) | slot) {}
  static constexpr Handle from_bits(uint64_t bits) {
    Handle h;
    h.bits_ = bits;
    return h;
  }

  [[nodiscard]] constexpr uint64_t bits() const { return bits_; }
  [[nodiscard]] constexpr uint32_t shard() const { return static_cast<uint32_t>(bits_ >> 56); }
  [[nodiscard]] constexpr uint32_t generation() const {
    return static_cast<uint32_t>(bits_ >> 32) & 0xFF'FFFFU;
  }
  [[nodiscard]] constexpr uint32_t slot() const { return static_cast<uint32_t>(bits_); }
  constexpr explicit operator bool() const { return bits_ != 0; }
  friend constexpr bool operator==(Handle, Handle) = default;

 private:
  uint64_t bits_ = 0;
};

}  // namespace taut
