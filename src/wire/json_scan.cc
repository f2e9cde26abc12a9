#include "wire/json_scan.h"

#include <cstddef>
#include <cstring>

#include "base/assert.h"

namespace taut::wire {
namespace {

constexpr size_t kEscapeBytes = 6;  // \uXXXX

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The number of a \uXXXX at the beginning of `text`, or -1.
int unicode_escape(std::string_view text) {
  if (text.size() < kEscapeBytes || text[0] != '\\' || text[1] != 'u') return -1;
  int value = 0;
  for (size_t i = 2; i < kEscapeBytes; ++i) {
    const int digit = hex_digit(text[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

bool high_surrogate(int value) {
  return value >= 0xD800 && value < 0xDC00;
}
bool low_surrogate(int value) {
  return value >= 0xDC00 && value < 0xE000;
}
bool blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

size_t skip_blanks(std::string_view json, size_t at) {
  while (at < json.size() && blank(json[at])) ++at;
  return at;
}

/// `at` is an opening quote; behind the closing one.
size_t skip_string(std::string_view json, size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

/// `at` is a value's first byte; behind its last one.
size_t skip_value(std::string_view json, size_t at) {
  if (json[at] == '"') return skip_string(json, at);
  uint32_t depth = 0;
  while (at < json.size()) {
    const char c = json[at];
    if (c == '"') {
      at = skip_string(json, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (depth == 0 && (c == ',' || c == '}' || c == ']' || blank(c))) return at;  // behind a number or a word
    ++at;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return at;
}

}  // namespace

Escapes repair_escapes(std::span<char> json) noexcept {
  Escapes escapes = Escapes::none;
  char* at = json.data();
  const char* const end = at + json.size();
  while (at < end) {
    at = static_cast<char*>(std::memchr(at, '\\', static_cast<size_t>(end - at)));
    if (at == nullptr) break;
    if (escapes == Escapes::none) escapes = Escapes::sound;
    const int value = unicode_escape({at, end});
    if (value < 0) {
      at += 2;
      continue;
    }
    if (high_surrogate(value) && low_surrogate(unicode_escape({at + kEscapeBytes, end}))) {
      at += 2 * kEscapeBytes;
      continue;
    }
    if (value == 0 || high_surrogate(value) || low_surrogate(value)) {
      std::memcpy(at, "\\ufffd", kEscapeBytes);
      escapes = Escapes::broken;
    }
    at += kEscapeBytes;
  }
  return escapes;
}

std::string_view raw_member(std::string_view json, uint32_t n) noexcept {
  size_t at = skip_blanks(json, 0) + 1;  // behind the brace
  for (uint32_t member = 0;; ++member) {
    at = skip_string(json, skip_blanks(json, at));
    at = skip_blanks(json, skip_blanks(json, at) + 1);  // behind the colon
    TAUT_ASSERT(at < json.size());
    const size_t end = skip_value(json, at);
    if (member == n) return json.substr(at, end - at);
    at = skip_blanks(json, end) + 1;  // behind the comma
  }
}

}  // namespace taut::wire
