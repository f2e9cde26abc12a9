// The values in use as a settings file that can be fed back, each with where it came from.
#include <algorithm>

#include "base/config.h"
#include "base/config_value.h"

namespace taut {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out.append("\\u00") += kHex[static_cast<unsigned char>(c) >> 4];
      out += kHex[c & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

/// As TOML wants it. Numbers with a unit are text, so that people can read them.
std::string toml_value(const ConfigRow& row) {
  if (const auto* const* list = std::get_if<std::vector<std::string>*>(&row.field)) {
    std::string out;
    for (const std::string& element : **list) out += (out.empty() ? "" : ", ") + quoted(element);
    return "[" + out + "]";
  }
  const std::string text = show_value(row);
  const bool bare = std::holds_alternative<bool*>(row.field) || (is_number(row) && row.unit == Unit::none);
  return bare ? text : quoted(text);
}

}  // namespace

std::string Config::effective() const {
  std::string out;
  std::string_view section;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const ConfigRow& row = rows_[i];
    if (row.hidden) continue;
    if (row.section != section) {
      section = row.section;
      out += (out.empty() ? "# " : "\n# ") + std::string(section) + "\n";
    }
    const bool unset =
        show_value(row).empty() && !std::holds_alternative<std::vector<std::string>*>(row.field);
    out += (unset ? "# " : "") + std::string(row.key) + " = " + toml_value(row) + "  # " + origins_[i].where +
           "\n";
  }
  return out;
}

}  // namespace taut
