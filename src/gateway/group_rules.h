// When each group works and into which it overflows, as the settings say.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "chat/dispatcher.h"
#include "gateway/settings.h"
#include "gateway/working_hours.h"

namespace taut::gateway {

/// Constant after start-up; any thread.
struct GroupRules {
  TimeZone zone;
  std::vector<std::optional<WorkingHours>> hours;  ///< by group; nothing, or beyond its end: always open
  std::array<chat::Dispatcher::Overflow, chat::kGroupsMax> overflow{};

  [[nodiscard]] OpenState state(chat::GroupId group, int64_t wall_ms) const {
    const bool always = group >= hours.size() || !hours[group];
    return always ? OpenState{} : open_state(*hours[group], zone, wall_ms);
  }
};

/// Error: one line that names the setting, the value and what was expected. The zone is UTC: TimeZone::load()
/// is for who starts the server.
[[nodiscard]] Result<GroupRules> read_group_rules(const Settings& settings);

}  // namespace taut::gateway
