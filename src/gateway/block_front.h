// A plain struct at the front of a block that travels.
#pragma once

#include <cstring>

#include "chat/types.h"
#include "core/buffer_pool.h"
#include "core/no_views.h"

/// Its bytes stand in the object itself.
template <>
inline constexpr bool taut::kVouchedFreeOfViews<taut::chat::InlineId> = true;

namespace taut::gateway {

/// REQUIRES: a T was put there.
template <RingElement T>
[[nodiscard]] T front_of(const Block& block) {
  T value;
  std::memcpy(&value, block.data(), sizeof(T));
  return value;
}

/// REQUIRES: the block is empty and has room, or a T stands there already.
template <RingElement T>
void set_front(Block& block, const T& value) {
  std::memcpy(block.data(), &value, sizeof(T));
  if (block.written == 0) block.commit(sizeof(T));
}

}  // namespace taut::gateway
