// When a group works: hours of the week in local time, and what they say of a moment.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "gateway/time_zone.h"

namespace taut::gateway {

/// A week's hours. Constant after construction; any thread.
class WorkingHours {
 public:
  static constexpr uint32_t kMinutes = 7 * 24 * 60;

  /// "Mo-Fr 09:00-12:00,13:00-18:00,Sa 22:00-02:00": days and times; times without days are of the days
  /// before. Ends are not part of it, and one that is not after its beginning is of the next day; 24:00 is
  /// the end of the day. Error: what is wrong.
  [[nodiscard]] static Result<WorkingHours> parse(std::string_view text);

  /// Minutes count from Monday 00:00, local time. REQUIRES: below kMinutes.
  [[nodiscard]] bool open_at(uint32_t minute) const;
  /// How long open_at() stays as it is, in minutes; 0: for ever.
  [[nodiscard]] uint32_t minutes_to_change(uint32_t minute) const;

 private:
  WorkingHours() = default;

  std::vector<uint32_t> changes_;     ///< minutes from which on it is otherwise, in order
  bool open_at_first_change_ = true;  ///< or, where there is none, always
};

struct OpenState {
  bool open = true;
  int64_t changes_at_ms = INT64_MAX;  ///< since 1970; INT64_MAX: never
};

/// Whether it is open at that moment, and until when it stays so. An hour that comes twice counts twice.
[[nodiscard]] OpenState open_state(const WorkingHours& hours, const TimeZone& zone, int64_t wall_ms);

}  // namespace taut::gateway
