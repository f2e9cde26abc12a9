// A group by its name.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/types.h"

namespace taut::gateway {

/// Its place in the configuration; nothing for a name that is not there.
[[nodiscard]] inline std::optional<chat::GroupId> find_group(const std::vector<std::string>& groups,
                                                             std::string_view name) {
  const auto it = std::ranges::find(groups, name);
  if (it == groups.end()) return std::nullopt;
  return static_cast<chat::GroupId>(it - groups.begin());
}

}  // namespace taut::gateway
