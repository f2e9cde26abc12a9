// A settings file as a flat list of keys and texts, each with its place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace taut {

/// The type that a value has in the file; `other` (tables, dates, mixed lists) fits no setting.
enum class TomlType : uint8_t { text, number, real, boolean, list, other };

struct TomlValue {
  std::string key;
  TomlType type = TomlType::other;
  std::vector<std::string> texts;  ///< one, or a list's elements
  uint32_t line = 0;               ///< of the value, from 1
  uint32_t column = 0;             ///< in bytes, from 1
};

/// All keys of a document, in its order. `name` stands in errors: "name:3:1: …".
[[nodiscard]] Result<std::vector<TomlValue>> parse_toml(std::string_view text, std::string_view name);

}  // namespace taut
