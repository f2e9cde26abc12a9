// Names of conversations: they carry the partition of their visitor, and no two are ever the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace taut::gateway {

/// "cPPP-TTTTTTTT-N": partition in 3 hexadecimal digits, the start of this process in milliseconds in base
/// 36, and a counter of the shard in base 36. Unique as long as two processes of one site do not start in the
/// same millisecond.
[[nodiscard]] std::string make_conversation_id(uint32_t partition, int64_t process_start_ms,
                                               uint64_t counter);

/// Nothing when the text cannot be a conversation of ours.
[[nodiscard]] std::optional<uint32_t> partition_of_conversation(std::string_view id);

}  // namespace taut::gateway
