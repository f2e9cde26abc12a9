#include "gateway/query.h"

#include <algorithm>
#include <charconv>

#include "wire/utf8.h"

namespace taut::gateway {

namespace {

/// A plus is a space, as forms send it.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char c = text.front();
    if (c != '%') {
      out += c == '+' ? ' ' : c;
      text.remove_prefix(1);
      continue;
    }
    uint8_t byte = 0;
    if (text.size() < 3) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 3, byte, 16);
    if (error != std::errc() || end != text.data() + 3) return std::nullopt;
    out += static_cast<char>(byte);
    text.remove_prefix(3);
  }
  if (out.find('\0') != std::string::npos || !wire::validate_utf8(out)) return std::nullopt;
  return out;
}

}  // namespace

Result<Query> Query::parse(std::string_view text, std::initializer_list<std::string_view> known) {
  Query query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    const std::optional<std::string> name = decoded(pair.substr(0, equals));
    const std::optional<std::string> value =
        decoded(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1));
    if (!name || !value) return fail("the query is no percent-encoded UTF-8");
    if (std::ranges::find(known, *name) == known.end())
      return fail("the query has an unknown name: " + *name);
    if (std::ranges::find(query.pairs_, *name, &std::pair<std::string, std::string>::first) !=
        query.pairs_.end())
      return fail("the query has " + *name + " twice");
    query.pairs_.emplace_back(*name, *value);
  }
  return query;
}

std::string_view Query::value(std::string_view name) const {
  const auto found = std::ranges::find(pairs_, name, &std::pair<std::string, std::string>::first);
  return found == pairs_.end() ? std::string_view() : std::string_view(found->second);
}

Result<uint64_t> Query::number(std::string_view name, uint64_t otherwise, uint64_t least,
                               uint64_t most) const {
  const std::string_view text = value(name);
  if (text.empty()) return otherwise;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool good = error == std::errc() && end == text.data() + text.size();
  if (good && number >= least && number <= most) return number;
  return fail(std::string(name) + ": must be a number from " + std::to_string(least) + " to " +
              std::to_string(most));
}

}  // namespace taut::gateway
