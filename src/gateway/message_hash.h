// How a message is told from others: XXH3, seeded by the process so that no client can aim a collision.
#pragma once

#include <cstdint>
#include <string_view>

#include "chat/dedup_window.h"

namespace taut::gateway {

/// Any thread.
[[nodiscard]] chat::IdHash hash_id(std::string_view client_msg_id, uint64_t seed) noexcept;
/// For texts, which are long: in the widest vectors that the processor has. Any thread.
[[nodiscard]] uint64_t hash_body(std::string_view text, uint64_t seed) noexcept;

}  // namespace taut::gateway
