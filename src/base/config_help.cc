// The table as text: for a terminal, and as Markdown for the documentation.
#include <algorithm>

#include "base/config.h"
#include "base/config_value.h"

namespace taut {

namespace {

constexpr size_t kColumns = 100;    // of a terminal that the help is written for
constexpr size_t kHelpColumn = 34;  // where the sentences begin: fits all but the longest flags

/// Puts words into lines of kColumns, the first continuing `line`, the others indented to kHelpColumn.
std::string wrapped(std::string line, std::string_view text) {
  std::string out;
  if (line.size() + 2 > kHelpColumn) {
    out = line + "\n";
    line.clear();
  }
  line.resize(kHelpColumn, ' ');
  bool fresh = true;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!fresh && line.size() + 1 + word.size() > kColumns) {
      out += line + "\n";
      line.assign(kHelpColumn, ' ');
      fresh = true;
    }
    if (!fresh) line += ' ';
    line += word;
    fresh = false;
    begin = end + 1;
  }
  return out + line + "\n";
}

std::string flag_text(const ConfigRow& row, std::string_view default_value) {
  const std::string key(row.key);
  if (std::holds_alternative<bool*>(row.field)) return (default_value == "true" ? "--[no-]" : "--") + key;
  return "--" + key + " " + value_word(row);
}

/// "(default 25s, 100ms to 1h)", or the fact that a value must be given.
std::string facts(const ConfigRow& row, std::string_view default_value) {
  if (row.required) return " (required)";
  const bool boolean = std::holds_alternative<bool*>(row.field);
  std::string text;
  if (boolean) text = default_value == "true" ? "default --" + std::string(row.key) : "";
  if (!boolean && !default_value.empty()) text = "default " + std::string(default_value);
  if (const std::string limits = limits_text(row); !limits.empty())
    text += (text.empty() ? "" : ", ") + limits;
  return text.empty() ? text : " (" + text + ")";
}

std::string_view type_word(const ConfigRow& row) {
  constexpr std::string_view kWords[] = {"string", "list of strings", "true or false", "number", "number",
                                         "number", "number",          "address",       "rate",   "choice"};
  static_assert(std::size(kWords) == std::variant_size_v<ConfigField>);
  return kWords[row.field.index()];
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

std::string Config::help() const {
  std::string out = "Usage: " + command_ + " [--key value | --key=value]...\n\n" + summary_ + "\n";
  std::string_view section;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].hidden) continue;
    if (rows_[i].section != section) {
      section = rows_[i].section;
      out += "\n" + std::string(section) + ":\n";
    }
    out += wrapped("  " + flag_text(rows_[i], defaults_[i]),
                   std::string(rows_[i].help) + facts(rows_[i], defaults_[i]));
  }
  out += "\nGeneral:\n";
  out += wrapped("  --config FILE",
                 "Read settings from a TOML file, with the same keys without dashes in front; flags win");
  out += wrapped("  --help", "Show this text and exit");
  return out;
}

std::string Config::help_markdown() const {
  std::string out;
  std::string_view section;
  for (size_t i = 0; i < rows_.size(); ++i) {
    const ConfigRow& row = rows_[i];
    if (row.hidden) continue;
    if (row.section != section) {
      section = row.section;
      out += (out.empty() ? "" : "\n") + ("### " + std::string(section)) +
             "\n\n| key | type | default | limits | what it does |\n|---|---|---|---|---|\n";
    }
    const bool choice = std::holds_alternative<ChoiceField>(row.field);
    const std::string fallback = row.required           ? "required"
                                 : defaults_[i].empty() ? ""
                                                        : "`" + defaults_[i] + "`";
    out += "| `" + std::string(row.key) + "` | " + std::string(type_word(row)) + " | " + fallback + " | " +
           cell(choice ? value_word(row) : limits_text(row)) + " | " + cell(row.help) + " |\n";
  }
  return out;
}

}  // namespace taut
