// Fields of the server's objects, found where they stand: texts in a simulation hold nothing that would be
// escaped.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace taut::sim {

/// What stands behind `"name":`; empty: there is no such field.
[[nodiscard]] inline std::string_view field(std::string_view object, std::string_view name) {
  std::string key = "\"";
  key.append(name).append("\":");
  const size_t at = object.find(key);
  return at == std::string_view::npos ? std::string_view() : object.substr(at + key.size());
}

/// 0: there is no such field.
[[nodiscard]] inline uint64_t number_field(std::string_view object, std::string_view name) {
  const std::string_view value = field(object, name);
  uint64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

/// Empty: there is no such field.
[[nodiscard]] inline std::string_view text_field(std::string_view object, std::string_view name) {
  std::string_view value = field(object, name);
  if (!value.starts_with('"')) return {};
  value.remove_prefix(1);
  return value.substr(0, value.find('"'));
}

[[nodiscard]] inline bool flag_field(std::string_view object, std::string_view name) {
  return field(object, name).starts_with("true");
}

}  // namespace taut::sim
