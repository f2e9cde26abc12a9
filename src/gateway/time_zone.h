// Offsets of one time zone from UTC, as a table that is made at the start.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace taut::gateway {

/// Constant after construction; any thread. Times are seconds since 1970.
class TimeZone {
 public:
  /// How far load() looks ahead; later the last offset stays.
  static constexpr int kYears = 20;
  static constexpr int64_t kNever = INT64_MAX;

  struct Change {
    int64_t at_s = 0;
    int32_t offset_s = 0;  ///< of local time, from then on
  };

  /// `offset_s` until the first change. REQUIRES: changes in order of time.
  explicit TimeZone(int32_t offset_s = 0, std::vector<Change> changes = {});

  /// "UTC", an offset like +05:30, or a name of the host's time zone database (Europe/Berlin). The table
  /// begins at `from_s`. Changes the environment (TZ) while it runs: REQUIRES that no other thread runs.
  /// Error: what was expected.
  [[nodiscard]] static Result<TimeZone> load(const std::string& name, int64_t from_s);
  /// Whether load() would take it; reads only.
  [[nodiscard]] static Status check(std::string_view name);

  /// Local time minus UTC.
  [[nodiscard]] int32_t offset_s(int64_t at_s) const;
  /// The first change after that moment; kNever: there is none.
  [[nodiscard]] int64_t next_change_s(int64_t at_s) const;

 private:
  int32_t first_offset_s_;
  std::vector<Change> changes_;
};

}  // namespace taut::gateway
