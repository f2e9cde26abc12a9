// The files of web/, compiled into the program.
#pragma once

#include <span>
#include <string_view>

namespace taut::gateway {

struct Asset {
  std::string_view name;  ///< "index.html"
  std::string_view content_type;
  std::string_view content;
};

[[nodiscard]] std::span<const Asset> assets();

/// nullptr when there is none of this name; "" and "/" mean index.html.
[[nodiscard]] const Asset* find_asset(std::string_view path);

}  // namespace taut::gateway
