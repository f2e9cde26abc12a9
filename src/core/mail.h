// The 64-byte element that shards send each other.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "core/no_views.h"

namespace taut {

using ShardId = uint32_t;
/// No member of the mesh.
inline constexpr ShardId kNobody = UINT32_MAX;

/// One cache line: a kind that the program defines, and 56 bytes of a plain struct of its own. Views are
/// refused at compile time (no_views.h): what a mail points to must be a block whose ownership travels with
/// it.
struct alignas(64) Mail {
  uint32_t kind = 0;
  uint32_t reserved = 0;
  std::array<std::byte, 56> payload{};

  template <RingElement T>
  [[nodiscard]] static Mail of(uint32_t kind, const T& value) {
    static_assert(sizeof(T) <= sizeof(payload));
    Mail mail;
    mail.kind = kind;
    std::memcpy(mail.payload.data(), &value, sizeof(T));
    return mail;
  }

  template <RingElement T>
  [[nodiscard]] T as() const {
    T value;
    std::memcpy(&value, payload.data(), sizeof(T));
    return value;
  }
};
static_assert(sizeof(Mail) == 64);

}  // namespace taut
