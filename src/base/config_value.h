// One setting's text and its typed field: parsing, limits, and the words for both.
#pragma once

#include <string>
#include <string_view>

#include "base/config.h"

namespace taut {

/// Parses `text` by the row's type and limits and stores it; lists append. On error nothing is stored and the
/// message is what was expected ("a number from 1 to 256").
[[nodiscard]] Status set_value(const ConfigRow& row, std::string_view text);

[[nodiscard]] bool is_number(const ConfigRow& row);

/// Empties a list; other types are left alone.
void clear_list(const ConfigRow& row);

/// The field as a flag would take it; lists joined by commas, numbers with the largest unit that divides
/// them.
[[nodiscard]] std::string show_value(const ConfigRow& row);

/// The word after the flag in the help: N, BYTES, HOST:PORT, adaptive|park|busy; empty for booleans.
[[nodiscard]] std::string value_word(const ConfigRow& row);

/// Limits for the help ("100ms to 1h"); empty where the type says it all.
[[nodiscard]] std::string limits_text(const ConfigRow& row);

}  // namespace taut
