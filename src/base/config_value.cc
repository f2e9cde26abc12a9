#include "base/config_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <optional>

namespace taut {

namespace {

struct Suffix {
  std::string_view text;
  int64_t factor;
};

// Largest first: the first that divides a value shows it.
constexpr std::array<Suffix, 3> kBytes{{{"GiB", 1LL << 30}, {"MiB", 1LL << 20}, {"KiB", 1LL << 10}}};
constexpr std::array<Suffix, 4> kMs{{{"h", 3'600'000}, {"min", 60'000}, {"s", 1'000}, {"ms", 1}}};

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

std::span<const Suffix> suffixes(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return kBytes;
    case Unit::ms:
      return kMs;
    case Unit::none:
      break;
  }
  return {};
}

template <class T>
std::optional<T> parse_digits(std::string_view text) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_number(std::string_view text, Unit unit) {
  const size_t digits = std::min(text.find_first_not_of("-0123456789"), text.size());
  const auto value = parse_digits<int64_t>(text.substr(0, digits));
  const std::string_view rest = text.substr(digits);
  if (!value || rest.empty()) return value;
  for (const Suffix& suffix : suffixes(unit)) {
    if (rest != suffix.text) continue;
    int64_t product = 0;
    if (__builtin_mul_overflow(*value, suffix.factor, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

std::string show_number(int64_t value, Unit unit) {
  for (const Suffix& suffix : suffixes(unit)) {
    if (value != 0 && value % suffix.factor == 0)
      return std::to_string(value / suffix.factor) + std::string(suffix.text);
  }
  return std::to_string(value);
}

std::string show_real(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} ? std::string(text.data(), end) : std::string("?");
}

std::string number_noun(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return "a size";
    case Unit::ms:
      return "a time";
    case Unit::none:
      break;
  }
  return "a number";
}

std::string number_hint(Unit unit) {
  switch (unit) {
    case Unit::bytes:
      return ", in bytes or like 64KiB, 4MiB";
    case Unit::ms:
      return ", in milliseconds or like 500ms, 30s, 5min";
    case Unit::none:
      break;
  }
  return "";
}

Status expected_number(const ConfigRow& row) {
  return fail(number_noun(row.unit) + " from " + show_number(row.min, row.unit) + " to " +
              show_number(row.max, row.unit) + number_hint(row.unit));
}

template <std::integral T>
Status set_number(const ConfigRow& row, T& field, std::string_view text) {
  const auto value = parse_number(text, row.unit);
  if (!value || *value < row.min || *value > row.max || !std::in_range<T>(*value))
    return expected_number(row);
  field = static_cast<T>(*value);
  return {};
}

Status set_real(const ConfigRow& row, double& field, std::string_view text) {
  const auto value = parse_digits<double>(text);
  if (!value || !(*value >= static_cast<double>(row.min) && *value <= static_cast<double>(row.max))) {
    return expected_number(row);
  }
  field = *value;
  return {};
}

Status set_bool(bool& field, std::string_view text) {
  if (text != "true" && text != "false") return fail("true or false");
  field = text == "true";
  return {};
}

Status set_host_port(HostPort& field, std::string_view text) {
  const auto expected = [] {
    return fail("HOST:PORT like 127.0.0.1:8080 or [::1]:8080, the port from 0 to 65535");
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return expected();
  std::string_view host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto port = parse_digits<uint16_t>(text.substr(colon + 1));
  if (!port || host.empty() || (!bracketed && host.find(':') != std::string_view::npos)) return expected();
  field = {std::string(host), *port};
  return {};
}

Status set_rate(Rate& field, std::string_view text) {
  if (text == "0") {
    field = {};
    return {};
  }
  const size_t slash = text.find('/');
  const auto per_second = parse_digits<uint32_t>(text.substr(0, slash));
  const auto burst =
      slash == std::string_view::npos ? per_second : parse_digits<uint32_t>(text.substr(slash + 1));
  if (!per_second || !burst || (*per_second != 0 && *burst < 1)) {
    return fail("PER_SECOND/BURST like 200/1000, or 0 for no limit");
  }
  field = *per_second == 0 ? Rate{} : Rate{*per_second, *burst};
  return {};
}

std::string join(std::span<const std::string_view> words, std::string_view between, std::string_view last) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? last : between;
    out += words[i];
  }
  return out;
}

Status set_choice(const ChoiceField& field, std::string_view text) {
  const auto found = std::ranges::find(field.names, text);
  if (found != field.names.end()) {
    *field.value = static_cast<unsigned char>(found - field.names.begin());
    return {};
  }
  return fail(join(field.names, ", ", " or "));
}

Status checked(const ConfigRow& row, std::string_view text) {
  return row.check ? row.check(text) : Status{};
}

Status append(const ConfigRow& row, std::vector<std::string>& field, std::string_view text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = row.commas ? std::min(text.find(',', begin), text.size()) : text.size();
    parts.emplace_back(text.substr(begin, end - begin));
    if (Status status = checked(row, parts.back()); !status) return status;
    begin = end + 1;
  }
  std::ranges::move(parts, std::back_inserter(field));
  return {};
}

}  // namespace

Status set_value(const ConfigRow& row, std::string_view text) {
  const Overloaded set{
      [&](std::string* field) {
        Status status = checked(row, text);
        if (status) *field = text;
        return status;
      },
      [&](std::vector<std::string>* field) { return append(row, *field, text); },
      [&](bool* field) { return set_bool(*field, text); },
      [&](int32_t* field) { return set_number(row, *field, text); },
      [&](uint32_t* field) { return set_number(row, *field, text); },
      [&](uint64_t* field) { return set_number(row, *field, text); },
      [&](double* field) { return set_real(row, *field, text); },
      [&](HostPort* field) { return set_host_port(*field, text); },
      [&](Rate* field) { return set_rate(*field, text); },
      [&](const ChoiceField& field) { return set_choice(field, text); },
  };
  return std::visit(set, row.field);
}

bool is_number(const ConfigRow& row) {
  return std::holds_alternative<int32_t*>(row.field) || std::holds_alternative<uint32_t*>(row.field) ||
         std::holds_alternative<uint64_t*>(row.field) || std::holds_alternative<double*>(row.field);
}

void clear_list(const ConfigRow& row) {
  if (auto* const* list = std::get_if<std::vector<std::string>*>(&row.field)) (*list)->clear();
}

std::string show_value(const ConfigRow& row) {
  const Overloaded show{
      [](const std::string* field) { return *field; },
      [](const std::vector<std::string>* field) {
        const std::vector<std::string_view> words(field->begin(), field->end());
        return join(words, ",", ",");
      },
      [](const bool* field) { return std::string(*field ? "true" : "false"); },
      [&](const int32_t* field) { return show_number(*field, row.unit); },
      [&](const uint32_t* field) { return show_number(*field, row.unit); },
      [&](const uint64_t* field) { return show_number(static_cast<int64_t>(*field), row.unit); },
      [](const double* field) { return show_real(*field); },
      [](const HostPort* field) {
        if (field->host.empty()) return std::string();
        const bool six = field->host.find(':') != std::string::npos;
        return (six ? "[" + field->host + "]" : field->host) + ":" + std::to_string(field->port);
      },
      [](const Rate* field) {
        if (field->per_second == 0) return std::string("0");
        return std::to_string(field->per_second) + "/" + std::to_string(field->burst);
      },
      [](const ChoiceField& field) { return std::string(field.names[*field.value]); },
  };
  return std::visit(show, row.field);
}

std::string value_word(const ConfigRow& row) {
  if (!row.value_name.empty()) return std::string(row.value_name);
  const auto number = [&] {
    return std::string(row.unit == Unit::bytes ? "BYTES" : row.unit == Unit::ms ? "MS" : "N");
  };
  const Overloaded word{
      [](const std::string*) { return std::string("TEXT"); },
      [](const std::vector<std::string>*) { return std::string("TEXT"); },
      [](const bool*) { return std::string(); },
      [&](const int32_t*) { return number(); },
      [&](const uint32_t*) { return number(); },
      [&](const uint64_t*) { return number(); },
      [](const double*) { return std::string("N"); },
      [](const HostPort*) { return std::string("HOST:PORT"); },
      [](const Rate*) { return std::string("N/BURST"); },
      [](const ChoiceField& field) { return join(field.names, "|", "|"); },
  };
  return std::visit(word, row.field);
}

std::string limits_text(const ConfigRow& row) {
  if (!is_number(row)) return "";
  // The largest values of the types are no limits that anybody chose.
  const bool unlimited = row.max == INT32_MAX || row.max == INT64_MAX;
  if (unlimited) return row.min == 0 ? "" : "at least " + show_number(row.min, row.unit);
  return show_number(row.min, row.unit) + " to " + show_number(row.max, row.unit);
}

}  // namespace taut
