#include "wire/netstring.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/assert.h"

namespace taut::wire {
namespace {

NetstringOutcome failure(CloseCode code, std::string_view reason) {
  return {.kind = NetstringOutcome::Kind::error, .close_code = code, .body = {}, .reason = reason};
}

}  // namespace

NetstringOutcome next_netstring(std::span<char> in, uint32_t body_bytes_max) noexcept {
  uint64_t length = 0;
  size_t at = 0;
  for (;; ++at) {
    if (at == in.size()) return {};
    const char c = in[at];
    if (c == ':' && at > 0) break;
    if (c < '0' || c > '9') return failure(CloseCode::protocol, "length: must be decimal digits and a colon");
    if (at > 0 && length == 0) return failure(CloseCode::protocol, "length: has a leading zero");
    length = 10 * length + static_cast<uint64_t>(c - '0');
    if (length > body_bytes_max) return failure(CloseCode::too_big, "message too big");
  }
  const size_t body_at = at + 1;
  const size_t comma_at = body_at + length;
  if (in.size() <= comma_at) return {};
  if (in[comma_at] != ',') return failure(CloseCode::protocol, "no comma where the length says");
  return {.kind = NetstringOutcome::Kind::body,
          .consumed = comma_at + 1,
          .body = in.subspan(body_at, length),
          .reason = {}};
}

size_t write_netstring_length(std::span<char> out, size_t body_bytes) noexcept {
  TAUT_ASSERT(out.size() > kNetstringDigitsMax);
  char* end = std::to_chars(out.data(), out.data() + kNetstringDigitsMax, body_bytes).ptr;
  *end++ = ':';
  return static_cast<size_t>(end - out.data());
}

size_t netstring_size(size_t body_bytes) noexcept {
  std::array<char, kNetstringDigitsMax + 1> length;
  return write_netstring_length(length, body_bytes) + body_bytes + 1;
}

size_t write_netstring(std::span<char> out, std::string_view body) noexcept {
  std::array<char, kNetstringDigitsMax + 1> length;
  const size_t body_at = write_netstring_length(length, body.size());
  TAUT_ASSERT(out.size() > body_at + body.size());
  std::copy_n(length.data(), body_at, out.data());
  std::ranges::copy(body, out.data() + body_at);
  out[body_at + body.size()] = ',';
  return body_at + body.size() + 1;
}

}  // namespace taut::wire
