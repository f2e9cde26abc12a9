#include "gateway/working_hours.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <optional>
#include <string>

#include "base/assert.h"

namespace taut::gateway {

namespace {

constexpr uint32_t kDayMinutes = 24 * 60;
constexpr uint32_t kDays = 7;
constexpr std::array<std::string_view, kDays> kDayNames{"Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"};

using Week = std::bitset<WorkingHours::kMinutes>;

/// What comes before the first `mark`, which is taken away with it.
std::string_view take_until(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

std::optional<uint32_t> read_day(std::string_view text) {
  const auto* const it = std::ranges::find(kDayNames, text);
  if (it == kDayNames.end()) return std::nullopt;
  return static_cast<uint32_t>(it - kDayNames.begin());
}

/// "Mo" or "Mo-Fr" as one bit for each day.
std::optional<uint32_t> read_days(std::string_view text) {
  const bool range = text.find('-') != std::string_view::npos;
  const std::optional<uint32_t> first = read_day(take_until(text, '-'));
  const std::optional<uint32_t> last = range ? read_day(text) : first;
  if (!first || !last) return std::nullopt;
  uint32_t days = 1U << *first;
  for (uint32_t day = *first; day != *last; days |= 1U << day) day = (day + 1) % kDays;
  return days;
}

/// "09:00" to "24:00"
std::optional<uint32_t> read_minute(std::string_view text) {
  const auto digit = [&text](size_t at) { return static_cast<uint32_t>(text[at] - '0'); };
  if (text.size() != 5 || text[2] != ':') return std::nullopt;
  for (const size_t at : {0, 1, 3, 4}) {
    if (digit(at) > 9) return std::nullopt;
  }
  const uint32_t minute = (digit(0) * 10 + digit(1)) * 60 + digit(3) * 10 + digit(4);
  return digit(3) < 6 && minute <= kDayMinutes ? std::optional(minute) : std::nullopt;
}

/// "09:00-18:00" of these days.
bool read_times(std::string_view text, uint32_t days, Week& week) {
  const std::optional<uint32_t> from = read_minute(take_until(text, '-'));
  std::optional<uint32_t> to = read_minute(text);
  if (!from || !to || *from == kDayMinutes || *from == *to) return false;
  if (*to < *from) *to += kDayMinutes;
  for (uint32_t day = 0; day < kDays; ++day) {
    if ((days >> day & 1) == 0) continue;
    for (uint32_t m = *from; m < *to; ++m) week.set((day * kDayMinutes + m) % WorkingHours::kMinutes);
  }
  return true;
}

uint32_t minute_of_week(int64_t local_s) {
  constexpr int64_t kWeekSeconds = int64_t{WorkingHours::kMinutes} * 60;
  constexpr int64_t kFirstDay = 3;  // 1970 began on a Thursday
  const int64_t second = (local_s + kFirstDay * 86'400) % kWeekSeconds;
  return static_cast<uint32_t>((second + kWeekSeconds) % kWeekSeconds / 60);
}

}  // namespace

Result<WorkingHours> WorkingHours::parse(std::string_view text) {
  if (text.ends_with(',')) return fail("something must follow the comma");
  Week week;
  uint32_t days = 0;
  do {
    std::string_view entry = take_until(text, ',');
    const std::string shown(entry);
    if (const size_t space = entry.find(' '); space != std::string_view::npos) {
      const std::optional<uint32_t> named = read_days(take_until(entry, ' '));
      if (!named) return fail(shown + ": days are Mo, Tu, We, Th, Fr, Sa, Su, or from one to another, Mo-Fr");
      days = *named;
    }
    if (days == 0) return fail(shown + ": days come first, as in Mo-Fr 09:00-18:00");
    if (!read_times(entry, days, week))
      return fail(shown + ": times are like 09:00-18:00, the end another than the beginning");
  } while (!text.empty());
  WorkingHours hours;
  for (uint32_t m = 0; m < kMinutes; ++m) {
    if (week[m] != week[(m + kMinutes - 1) % kMinutes]) hours.changes_.push_back(m);
  }
  hours.open_at_first_change_ = week[hours.changes_.empty() ? 0 : hours.changes_.front()];
  return hours;
}

bool WorkingHours::open_at(uint32_t minute) const {
  TAUT_ASSERT(minute < kMinutes);
  // The changes come in pairs: before the first one it is as after the last one.
  const auto passed = std::ranges::upper_bound(changes_, minute) - changes_.begin();
  return changes_.empty() || passed % 2 == 1 ? open_at_first_change_ : !open_at_first_change_;
}

uint32_t WorkingHours::minutes_to_change(uint32_t minute) const {
  TAUT_ASSERT(minute < kMinutes);
  if (changes_.empty()) return 0;
  const auto next = std::ranges::upper_bound(changes_, minute);
  return (next == changes_.end() ? changes_.front() + kMinutes : *next) - minute;
}

OpenState open_state(const WorkingHours& hours, const TimeZone& zone, int64_t wall_ms) {
  int64_t at_s = wall_ms / 1'000;
  const auto local_s = [&zone](int64_t utc_s) { return utc_s + zone.offset_s(utc_s); };
  const auto open_then = [&](int64_t utc_s) { return hours.open_at(minute_of_week(local_s(utc_s))); };
  const bool open = open_then(at_s);
  for (;;) {
    const uint32_t minutes = hours.minutes_to_change(minute_of_week(local_s(at_s)));
    int64_t next_s = zone.next_change_s(at_s);
    if (minutes != 0) next_s = std::min(next_s, at_s - local_s(at_s) % 60 + int64_t{minutes} * 60);
    if (next_s == TimeZone::kNever) return {.open = open};
    at_s = next_s;
    if (open_then(at_s) != open) return {.open = open, .changes_at_ms = at_s * 1'000};
  }
}

}  // namespace taut::gateway
