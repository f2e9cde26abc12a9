// Configuration as one table: each row is a flag, a TOML key, a line of the help and a field of a struct.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"

namespace taut {

/// An address to listen on or to connect to; an empty host means "not set". IPv6 is written [::1]:8080.
struct HostPort {
  std::string host;
  uint16_t port = 0;
  friend bool operator==(const HostPort&, const HostPort&) = default;
};

/// A token bucket, written "200/1000": per second, and the burst it may save up. Zero per second means no
/// limit.
struct Rate {
  uint32_t per_second = 0;
  uint32_t burst = 0;
  friend bool operator==(const Rate&, const Rate&) = default;
};

/// A field that is one of a few words: an enum of one byte whose values number `names` from 0.
struct ChoiceField {
  unsigned char* value = nullptr;
  std::span<const std::string_view> names;
};

template <class E>
[[nodiscard]] ChoiceField choice_field(E& field, std::span<const std::string_view> names) {
  static_assert(sizeof(E) == 1);
  return {reinterpret_cast<unsigned char*>(&field), names};
}

/// What a whole number counts. Bytes also take 64KiB, 4MiB, 1GiB; milliseconds also take 250ms, 30s, 5min.
enum class Unit : uint8_t { none, bytes, ms };

/// Where a value goes, which is also its type. The value that the field has when the table is built is its
/// default.
using ConfigField = std::variant<std::string*, std::vector<std::string>*, bool*, int32_t*, uint32_t*,
                                 uint64_t*, double*, HostPort*, Rate*, ChoiceField>;

/// One setting. Views are of literals.
struct ConfigRow {
  std::string_view key;      ///< lower case and dashes: `ping-ms`
  std::string_view section;  ///< heading in the help; rows of one section stand together
  ConfigField field;
  std::string_view help;             ///< one sentence, without the default and the limits
  std::string_view value_name = "";  ///< the word in the help's `--key WORD`; empty: by type
  Unit unit = Unit::none;            ///< numbers only
  int64_t min = 0;                   ///< numbers only; for lists the least number of elements
  int64_t max = INT32_MAX;           ///< numbers only
  bool commas = false;               ///< lists only: one value may hold several, parted by commas
  bool required = false;             ///< must be given by flag or file
  bool hidden = false;               ///< not in the help: for the project's own tests
  Status (*check)(std::string_view) =
      nullptr;  ///< strings, and each element of lists: says what was expected
};

/// Which of the three gave a setting its value.
enum class ConfigSource : uint8_t { default_value, file, flag };

struct ConfigOrigin {
  ConfigSource source = ConfigSource::default_value;
  std::string where;  ///< "default", "taut.toml:3:1", "--ping-ms"
};

/// Reads flags and at most one TOML file into the fields that its rows point to: flag over file over default.
/// One thread, at start-up; the fields outlive it. Every error is one line that names the setting, the value,
/// what was expected, and for files line and column.
class Config {
 public:
  /// What the arguments ask for beyond values.
  enum class Ask : uint8_t { run, help, help_markdown };

  /// `command` is how the program is called ("taut serve"); `summary` the help's first lines. Keys are unique
  /// and none is `config`, `help` or `help-markdown`: these three are every table's own.
  Config(std::string_view command, std::string_view summary, std::vector<ConfigRow> rows);

  /// Flags after the command: --key value, --key=value; booleans --key, --no-key, --key=false; lists by
  /// repeating. A help flag wins over everything behind it and leaves the fields alone.
  [[nodiscard]] Result<Ask> load(std::span<const char* const> arguments);

  /// For a person at a terminal of 100 columns, grouped by section.
  [[nodiscard]] std::string help() const;
  /// The same table as Markdown, for the documentation.
  [[nodiscard]] std::string help_markdown() const;

  /// The values as they are now, as TOML that can be fed back, with the place that each came from.
  [[nodiscard]] std::string effective() const;

  [[nodiscard]] const std::vector<ConfigRow>& rows() const { return rows_; }
  /// The value as it is now, in the form that a flag takes; lists joined by commas.
  [[nodiscard]] std::string value_text(const ConfigRow& row) const;
  /// REQUIRES: `key` is in the table.
  [[nodiscard]] const ConfigOrigin& origin(std::string_view key) const;

 private:
  struct Given {
    size_t row;
    std::string text;
    std::string flag;        ///< "--key" as the user wrote it
    std::string shown;       ///< with the value, for errors
    uint32_t arguments = 1;  ///< how many words it took
  };
  struct Flags;

  [[nodiscard]] Result<Flags> parse_flags(std::span<const char* const> arguments) const;
  [[nodiscard]] Result<Given> parse_flag(std::span<const char* const> arguments) const;
  [[nodiscard]] Status load_file(const std::string& path);
  [[nodiscard]] Status apply(size_t row, std::string_view text, const ConfigOrigin& origin,
                             std::string_view shown);
  [[nodiscard]] size_t find(std::string_view key) const;
  [[nodiscard]] std::string suggestion(std::string_view key, std::string_view dashes) const;
  [[nodiscard]] Status check_required() const;

  std::string command_;
  std::string summary_;
  std::vector<ConfigRow> rows_;
  std::vector<std::string> defaults_;
  std::vector<ConfigOrigin> origins_;
};

/// The entry of `names` nearest to a misspelt `word`, or empty when none is near (more than a third is
/// different).
[[nodiscard]] std::string_view nearest(std::string_view word, std::span<const std::string_view> names);

}  // namespace taut
