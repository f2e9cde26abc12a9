// Where in a URL the server's own paths begin: below --path-prefix.
#pragma once

#include <string_view>

namespace taut::gateway {

/// "/x/v1/chat" is "/v1/chat" below "/x". Empty: it is not below. An empty prefix changes nothing.
[[nodiscard]] constexpr std::string_view path_below(std::string_view prefix, std::string_view path) {
  if (!path.starts_with(prefix)) return {};
  path.remove_prefix(prefix.size());
  return path.starts_with('/') ? path : std::string_view{};
}

}  // namespace taut::gateway
