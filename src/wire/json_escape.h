// The inside of a JSON string: which bytes need an escape, and writing them.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace taut::wire {

/// Size of `text` after escaping '"', '\' and bytes below 0x20, and nothing else. Any thread.
[[nodiscard]] size_t json_escaped_size(std::string_view text) noexcept;

/// Writes `text` escaped, without the quotes, and returns its end. Any thread.
/// REQUIRES: out.size() ≥ json_escaped_size(text), no overlap. Clean stretches are copied 16 bytes at a time.
char* write_json_escaped(std::span<char> out, std::string_view text) noexcept;

}  // namespace taut::wire
