#include "base/config_toml.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace taut {

namespace {

std::string place(std::string_view name, const toml::source_position& at) {
  return std::string(name) + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

bool read_list(const toml::array& list, std::vector<std::string>& texts) {
  for (const toml::node& element : list) {
    const auto* text = element.as_string();
    if (text == nullptr) return false;
    texts.push_back(text->get());
  }
  return true;
}

TomlValue read_value(std::string_view key, const toml::node& node) {
  TomlValue value;
  value.key = key;
  value.line = node.source().begin.line;
  value.column = node.source().begin.column;
  if (const auto* text = node.as_string()) {
    value.type = TomlType::text;
    value.texts = {text->get()};
  } else if (const auto* number = node.as_integer()) {
    value.type = TomlType::number;
    value.texts = {std::to_string(number->get())};
  } else if (const auto* real = node.as_floating_point()) {
    value.type = TomlType::real;
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), real->get()).ptr;
    value.texts = {std::string(digits.data(), end)};
  } else if (const auto* boolean = node.as_boolean()) {
    value.type = TomlType::boolean;
    value.texts = {boolean->get() ? "true" : "false"};
  } else if (const auto* list = node.as_array(); list != nullptr && read_list(*list, value.texts)) {
    value.type = TomlType::list;
  }
  return value;
}

}  // namespace

Result<std::vector<TomlValue>> parse_toml(std::string_view text, std::string_view name) {
  const toml::parse_result parsed = toml::parse(text, name);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return fail(place(name, error.source().begin) + ": " + std::string(error.description()));
  }
  std::vector<TomlValue> values;
  for (const auto& [key, node] : parsed.table()) values.push_back(read_value(key.str(), node));
  // toml++ keeps keys sorted by name; people read errors from the top of their file.
  std::ranges::sort(values, {}, [](const TomlValue& v) { return std::pair(v.line, v.column); });
  return values;
}

}  // namespace taut
