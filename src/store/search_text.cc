#include "store/search_text.h"

#include <algorithm>

#include "store/history.h"

namespace taut::store {

namespace {

constexpr size_t kTrigramCharacters = 3;

/// A byte that does not go on with the character before it.
bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

}  // namespace

Status check_search_text(std::string_view text) {
  if (text.empty()) return fail("text to look for: is empty");
  if (text.size() > kQueryBytesMax) {
    return fail("text to look for: is longer than " + std::to_string(kQueryBytesMax) + " bytes");
  }
  if (text.contains('\0')) return fail("text to look for: has U+0000 in it");
  return {};
}

bool has_trigram(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, begins_character)) >= kTrigramCharacters;
}

std::string like_pattern(std::string_view text) {
  std::string pattern = "%";
  for (const char c : text) {
    if (c == '%' || c == '_' || c == '\\') pattern += '\\';
    pattern += c;
  }
  return pattern + "%";
}

ScanWindow scan_window(uint64_t cursor, uint64_t position, bool indexed) {
  const uint64_t below = cursor == 0 ? position + 1 : std::min(cursor, position + 1);
  // Records count from 1.
  const uint64_t from = indexed || below <= kScanRecords + 1 ? 1 : below - kScanRecords;
  return {.from = from, .below = below, .next_cursor = from > 1 ? from : 0};
}

}  // namespace taut::store
