// Why no library parses the flags: the table already knows every flag's name, type, limits and help, for the
// file and the documentation too. A library would want a second registration of all that, and words its
// errors its own way; what is left for it, `--key value` and `--key=value`, is one short function.
#include "base/config.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/assert.h"
#include "base/config_toml.h"
#include "base/config_value.h"
#include "base/file.h"

namespace taut {

namespace {

/// No list of settings is as long.
constexpr size_t kFileBytesMax = size_t{1} << 20;

constexpr size_t kNotFound = SIZE_MAX;
constexpr size_t kConfigFile = SIZE_MAX - 1;  // the row of --config, which is in no table

bool is_bool(const ConfigRow& row) {
  return std::holds_alternative<bool*>(row.field);
}
bool is_list(const ConfigRow& row) {
  return std::holds_alternative<std::vector<std::string>*>(row.field);
}

/// Whether a value of this type in a file may hold the row; numbers with a unit or a rate may be written as
/// text.
bool type_fits(const ConfigRow& row, TomlType type) {
  switch (type) {
    case TomlType::text:
      return !is_bool(row);
    case TomlType::number:
      return is_number(row) || std::holds_alternative<Rate*>(row.field);
    case TomlType::real:
      return std::holds_alternative<double*>(row.field);
    case TomlType::boolean:
      return is_bool(row);
    case TomlType::list:
      return is_list(row);
    case TomlType::other:
      break;
  }
  return false;
}

std::string_view type_expected(const ConfigRow& row) {
  if (is_bool(row)) return "true or false, without quotes";
  if (is_list(row)) return "a list of strings like [\"a\", \"b\"]";
  if (is_number(row)) return row.unit == Unit::none ? "a number" : "a number, or a string with a unit";
  return "a string in quotes";
}

/// The text as TOML would write it, for errors.
std::string shown(const TomlValue& value) {
  std::string text;
  for (const std::string& part : value.texts) text += (text.empty() ? "" : ", ") + ("\"" + part + "\"");
  if (value.type == TomlType::list) return "[" + text + "]";
  return value.type == TomlType::text ? text : value.texts.empty() ? "a value" : value.texts.front();
}

/// Levenshtein's distance by one row; words are short.
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({replaced, row[j] + 1, row[j - 1] + 1}));
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> names) {
  std::string_view best;
  size_t best_edits = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string_view name : names) {
    const size_t n = edits(word, name);
    if (n < best_edits) {
      best = name;
      best_edits = n;
    }
  }
  return best;
}

/// The command line taken apart, nothing stored yet: the file comes before the flags.
struct Config::Flags {
  Ask ask = Ask::run;
  std::string file;
  std::vector<Given> given;
};

Config::Config(std::string_view command, std::string_view summary, std::vector<ConfigRow> rows)
    : command_(command),
      summary_(summary),
      rows_(std::move(rows)),
      origins_(rows_.size(), {.where = "default"}) {
  std::set<std::string_view> keys{"config", "help", "help-markdown"};
  for (const ConfigRow& row : rows_) {
    TAUT_ASSERT(keys.insert(row.key).second);
    defaults_.push_back(show_value(row));
  }
}

size_t Config::find(std::string_view key) const {
  const auto found = std::ranges::find(rows_, key, &ConfigRow::key);
  return found == rows_.end() ? kNotFound : static_cast<size_t>(found - rows_.begin());
}

std::string Config::suggestion(std::string_view key, std::string_view dashes) const {
  std::vector<std::string_view> names{"config", "help"};
  if (dashes.empty()) names.clear();
  for (const ConfigRow& row : rows_) {
    if (!row.hidden) names.push_back(row.key);
  }
  const std::string_view near = nearest(key, names);
  if (near.empty()) return "; " + command_ + " --help lists them";
  return "; did you mean " + std::string(dashes) + std::string(near) + "?";
}

Result<Config::Flags> Config::parse_flags(std::span<const char* const> arguments) const {
  Flags flags;
  for (size_t i = 0; i < arguments.size();) {
    const std::string_view word = arguments[i];
    if (word == "-h" || word == "--help") return Flags{.ask = Ask::help, .file = {}, .given = {}};
    if (word == "--help-markdown") return Flags{.ask = Ask::help_markdown, .file = {}, .given = {}};
    if (!word.starts_with("--") || word.size() == 2) {
      return fail("unexpected argument " + std::string(word) + ": options are written --key value");
    }
    const auto given = parse_flag(arguments.subspan(i));
    if (!given) return std::unexpected(given.error());
    if (given->row == kConfigFile) {
      flags.file = given->text;
    } else {
      flags.given.push_back(*given);
    }
    i += given->arguments;
  }
  return flags;
}

Result<Config::Given> Config::parse_flag(std::span<const char* const> arguments) const {
  const std::string_view word = arguments.front();
  const size_t equals = word.find('=');
  const std::string_view key = word.substr(2, equals == std::string_view::npos ? equals : equals - 2);
  const std::string flag = "--" + std::string(key);
  const bool last = arguments.size() == 1;
  const std::string_view next = last ? std::string_view() : arguments[1];

  if (key.starts_with("no-") && equals == std::string_view::npos) {
    const size_t row = find(key.substr(3));
    if (row < rows_.size() && is_bool(rows_[row])) return Given{row, "false", flag, flag, 1};
  }
  const size_t row = key == "config" ? kConfigFile : find(key);
  if (row == kNotFound) return fail("unknown option " + flag + suggestion(key, "--"));
  if (equals != std::string_view::npos) {
    const std::string text(word.substr(equals + 1));
    return Given{row, text, flag, flag + " " + text, 1};
  }
  if (row != kConfigFile && is_bool(rows_[row])) {
    const bool spelled = next == "true" || next == "false";
    const std::string text(spelled ? next : "true");
    return Given{row, text, flag, flag + " " + text, spelled ? 2U : 1U};
  }
  if (last) {
    return fail(flag + " needs a value: " + flag + " " +
                (row == kConfigFile ? "FILE" : value_word(rows_[row])));
  }
  return Given{row, std::string(next), flag, flag + " " + std::string(next), 2};
}

Status Config::apply(size_t row, std::string_view text, const ConfigOrigin& origin,
                     std::string_view shown_as) {
  // The first value of a list from a stronger source replaces what a weaker one gave.
  if (origins_[row].source != origin.source) clear_list(rows_[row]);
  if (Status status = set_value(rows_[row], text); !status) {
    return fail(std::string(shown_as) + ": expected " + status.error().message);
  }
  origins_[row] = origin;
  return {};
}

Status Config::load_file(const std::string& path) {
  const Result<std::string> text = PosixFileSystem().read_front(path, kFileBytesMax + 1);
  if (!text) return fail("--config " + text.error().message);
  if (text->size() > kFileBytesMax) return fail("--config " + path + ": too long for settings");
  const auto values = parse_toml(*text, path);
  if (!values) return std::unexpected(values.error());
  for (const TomlValue& value : *values) {
    const std::string where = path + ":" + std::to_string(value.line) + ":" + std::to_string(value.column);
    const size_t row = find(value.key);
    if (row == kNotFound) return fail(where + ": unknown key " + value.key + suggestion(value.key, ""));
    const std::string shown_as = where + ": " + value.key + " = " + shown(value);
    if (!type_fits(rows_[row], value.type)) {
      return fail(shown_as + ": expected " + std::string(type_expected(rows_[row])));
    }
    if (is_list(rows_[row])) clear_list(rows_[row]);
    for (const std::string& part : value.texts) {
      // Every element carries the file as its source: only the first one finds the defaults to replace.
      if (Status status = apply(row, part, {ConfigSource::file, where}, shown_as); !status) return status;
    }
    origins_[row] = {ConfigSource::file, where};
  }
  return {};
}

Status Config::check_required() const {
  for (size_t i = 0; i < rows_.size(); ++i) {
    const ConfigRow& row = rows_[i];
    const std::string flag = "--" + std::string(row.key);
    if (row.required && origins_[i].source == ConfigSource::default_value) {
      return fail(flag + " is missing: give " + flag + " " + value_word(row));
    }
    const auto* list = std::get_if<std::vector<std::string>*>(&row.field);
    if (list != nullptr && (*list)->size() < static_cast<size_t>(row.min)) {
      return fail(origins_[i].where + ": " + std::string(row.key) + " is empty: expected at least " +
                  std::to_string(row.min));
    }
  }
  return {};
}

Result<Config::Ask> Config::load(std::span<const char* const> arguments) {
  const auto flags = parse_flags(arguments);
  if (!flags) return std::unexpected(flags.error());
  if (flags->ask != Ask::run) return flags->ask;
  if (!flags->file.empty()) {
    if (Status status = load_file(flags->file); !status) return std::unexpected(status.error());
  }
  for (const Given& given : flags->given) {
    if (Status status = apply(given.row, given.text, {ConfigSource::flag, given.flag}, given.shown);
        !status) {
      return std::unexpected(status.error());
    }
  }
  if (Status status = check_required(); !status) return std::unexpected(status.error());
  return Ask::run;
}

std::string Config::value_text(const ConfigRow& row) const {
  return show_value(row);
}

const ConfigOrigin& Config::origin(std::string_view key) const {
  const size_t row = find(key);
  TAUT_ASSERT(row != kNotFound);
  return origins_[row];
}

}  // namespace taut
