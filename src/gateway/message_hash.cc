#include "gateway/message_hash.h"

#include <xxh_x86dispatch.h>

namespace taut::gateway {

chat::IdHash hash_id(std::string_view client_msg_id, uint64_t seed) noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(client_msg_id.data(), client_msg_id.size(), seed);
  return {.high = hash.high64, .low = hash.low64};
}

uint64_t hash_body(std::string_view text, uint64_t seed) noexcept {
  return XXH3_64bits_withSeed(text.data(), text.size(), seed);
}

}  // namespace taut::gateway
