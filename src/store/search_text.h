// A text that somebody looks for: whether it can be, as a pattern, and how far one call looks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace taut::store {

/// Error: empty, longer than kQueryBytesMax, or with U+0000 in it.
[[nodiscard]] Status check_search_text(std::string_view text);

/// Whether an index of trigrams finds it: it has three characters (code points) or more.
[[nodiscard]] bool has_trigram(std::string_view text);

/// For LIKE with '\' as its escape: the text anywhere, nothing in it with a meaning.
[[nodiscard]] std::string like_pattern(std::string_view text);

/// The records [from, below) that a call looks through, and the cursor for the next one; 0: none.
struct ScanWindow {
  uint64_t from = 0;
  uint64_t below = 0;
  uint64_t next_cursor = 0;
};
/// Everything below the cursor (0: all), or the newest kScanRecords of it.
[[nodiscard]] ScanWindow scan_window(uint64_t cursor, uint64_t position, bool indexed);

}  // namespace taut::store
