// Netstrings (`<decimal length>:<body>,`) as a pure codec: bytes in a buffer of the caller's, bodies out, no
// copy, no heap and no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/chat_codes.h"

namespace taut::wire {

/// Digits of the longest length that fits into 32 bits.
inline constexpr size_t kNetstringDigitsMax = 10;
/// What stands around a body at most: the length, its colon, the comma.
inline constexpr size_t kNetstringAroundMax = kNetstringDigitsMax + 2;

/// What next_netstring() found.
struct NetstringOutcome {
  enum class Kind : uint8_t {
    need_more,  ///< no whole netstring yet
    body,       ///< one: `body`, `consumed`
    error,      ///< nobody knows where the next one begins: close with `close_code` and `reason`
  };

  Kind kind = Kind::need_more;
  /// error: too_big for a length above the limit, else protocol.
  CloseCode close_code = CloseCode::none;
  size_t consumed = 0;      ///< body: bytes of the netstring, to be dropped when the body has been dealt with
  std::span<char> body;     ///< inside the caller's buffer, the comma behind it
  std::string_view reason;  ///< error: a static text
};

/// The first netstring of `in`. Errors, each found as soon as its byte is there: a length that is not decimal
/// or has a leading zero, a length above body_bytes_max, a body without a comma behind it. Keeping what
/// need_more leaves takes at most body_bytes_max + kNetstringAroundMax bytes. Any thread.
[[nodiscard]] NetstringOutcome next_netstring(std::span<char> in, uint32_t body_bytes_max) noexcept;

/// Size of the netstring around a body.
[[nodiscard]] size_t netstring_size(size_t body_bytes) noexcept;

/// Writes the length and its colon; returns their size. REQUIRES: out holds kNetstringDigitsMax + 1 bytes.
size_t write_netstring_length(std::span<char> out, size_t body_bytes) noexcept;

/// A whole netstring; returns its size. REQUIRES: out holds netstring_size(body.size()) bytes, no overlap.
size_t write_netstring(std::span<char> out, std::string_view body) noexcept;

}  // namespace taut::wire
