#include "auth/base64url.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/assert.h"

namespace taut::auth {

namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr uint8_t kInvalid = 0xFF;

constexpr auto make_values() {
  std::array<uint8_t, 256> values{};
  values.fill(kInvalid);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<uint8_t>(i);
  return values;
}
constexpr auto kValues = make_values();

uint32_t value_of(char c) {
  return kValues[static_cast<uint8_t>(c)];
}
uint32_t byte_of(char c) {
  return static_cast<uint8_t>(c);
}

}  // namespace

void append_base64url(std::string& out, std::string_view bytes) {
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = std::min<size_t>(bytes.size() - i, 3);
    uint32_t group = byte_of(bytes[i]) << 16;
    if (n > 1) group |= byte_of(bytes[i + 1]) << 8;
    if (n > 2) group |= byte_of(bytes[i + 2]);
    for (size_t k = 0; k <= n; ++k) out += kAlphabet[group >> (18 - 6 * k) & 63];
  }
}

std::optional<size_t> decode_base64url(std::string_view text, std::span<char> out) {
  TAUT_ASSERT(out.size() >= base64url_decoded_bytes_max(text.size()));
  if (text.size() % 4 == 1) return std::nullopt;
  char* to = out.data();
  uint32_t seen = 0;  // all values or-ed: an invalid one sets a bit above 63
  size_t i = 0;
  for (; i + 4 <= text.size(); i += 4) {
    const uint32_t a = value_of(text[i]);
    const uint32_t b = value_of(text[i + 1]);
    const uint32_t c = value_of(text[i + 2]);
    const uint32_t d = value_of(text[i + 3]);
    seen |= a | b | c | d;
    const uint32_t group = a << 18 | b << 12 | c << 6 | d;
    *to++ = static_cast<char>(group >> 16);
    *to++ = static_cast<char>(group >> 8);
    *to++ = static_cast<char>(group);
  }
  if (i < text.size()) {  // 2 or 3 characters: 1 or 2 bytes and 4 or 2 bits that must be 0
    const uint32_t a = value_of(text[i]);
    const uint32_t b = value_of(text[i + 1]);
    const uint32_t c = i + 2 < text.size() ? value_of(text[i + 2]) : 0;
    seen |= a | b | c;
    const uint32_t group = a << 18 | b << 12 | c << 6;
    const bool two_bytes = i + 2 < text.size();
    if ((group & (two_bytes ? 0xFFU : 0xFFFFU)) != 0) return std::nullopt;
    *to++ = static_cast<char>(group >> 16);
    if (two_bytes) *to++ = static_cast<char>(group >> 8);
  }
  if (seen > 63) return std::nullopt;
  return static_cast<size_t>(to - out.data());
}

}  // namespace taut::auth
