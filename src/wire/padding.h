// The slack behind every buffer of received bytes.
#pragma once

#include <cstddef>

namespace taut::wire {

/// Readable bytes that a caller keeps behind received bytes (their content does not matter): the JSON parser
/// loads whole vectors.
inline constexpr size_t kReadablePadding = 64;

}  // namespace taut::wire
