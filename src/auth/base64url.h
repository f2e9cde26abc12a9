// base64url without padding (RFC 4648, section 5), in its one canonical form.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace taut::auth {

[[nodiscard]] constexpr size_t base64url_decoded_bytes_max(size_t text_bytes) {
  return text_bytes / 4 * 3 + 3;
}

/// Appends the encoding of `bytes` to `out`.
void append_base64url(std::string& out, std::string_view bytes);

/// Decodes into the beginning of `out` and returns the size; nothing for a character outside the alphabet
/// (padding included), an impossible length, or unused bits that are not 0, so that every byte string has one
/// encoding only. REQUIRES: out.size() >= base64url_decoded_bytes_max(text.size()).
[[nodiscard]] std::optional<size_t> decode_base64url(std::string_view text, std::span<char> out);

}  // namespace taut::auth
