// How a message is told from others: XXH3, seeded by the process so that no client can aim a collision.
#pragma once

#include <cstdint>
#include <string_view>

#include "chat/dedup_window.h"
#include "wire/chat_codes.h"

namespace taut::gateway {

/// Any thread.
[[nodiscard]] chat::IdHash hash_id(std::string_view client_msg_id, uint64_t seed) noexcept;
/// For texts, which are long: in the widest vectors that the processor has. Any thread.
[[nodiscard]] uint64_t hash_body(std::string_view text, uint64_t seed) noexcept;
/// All that must be equal in a repeat. Any thread.
[[nodiscard]] inline uint64_t hash_message(std::string_view text, wire::ItemKind kind,
                                           uint64_t seed) noexcept {
  return hash_body(text, seed + static_cast<uint64_t>(kind));
}

}  // namespace taut::gateway
