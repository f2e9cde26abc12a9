#include "gateway/time_zone.h"

#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <utility>

#include "base/assert.h"

namespace taut::gateway {

namespace {

constexpr int64_t kDaySeconds = 86'400;
constexpr std::string_view kDatabase = "/usr/share/zoneinfo/";

/// "+05:30"
std::optional<int32_t> read_offset(std::string_view text) {
  constexpr int32_t kHoursMax = 14;
  const auto digit = [&text](size_t at) { return text[at] - '0'; };
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return std::nullopt;
  for (const size_t at : {1, 2, 4, 5}) {
    if (digit(at) < 0 || digit(at) > 9) return std::nullopt;
  }
  const int32_t hours = digit(1) * 10 + digit(2);
  const int32_t minutes = digit(4) * 10 + digit(5);
  if (hours > kHoursMax || minutes > 59) return std::nullopt;
  return (text[0] == '-' ? -1 : 1) * (hours * 3'600 + minutes * 60);
}

/// Not every file in the database is one.
bool is_zone_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(4, '\0');
  return file.read(begin.data(), 4) && begin == "TZif";
}

/// The C library is the only reader of the database that every host has; it knows one zone at a time.
class ZoneOfProcess {
 public:
  explicit ZoneOfProcess(const std::string& name) {
    if (const char* before = std::getenv("TZ")) before_ = before;
    setenv("TZ", (":" + name).c_str(), 1);
    tzset();
  }
  ZoneOfProcess(const ZoneOfProcess&) = delete;
  ZoneOfProcess& operator=(const ZoneOfProcess&) = delete;
  ~ZoneOfProcess() {
    before_ ? setenv("TZ", before_->c_str(), 1) : unsetenv("TZ");
    tzset();
  }

  [[nodiscard]] static int32_t offset_s(int64_t at_s) {
    const time_t at = at_s;
    tm local{};
    TAUT_ASSERT(localtime_r(&at, &local) != nullptr);
    return static_cast<int32_t>(local.tm_gmtoff);
  }

  /// REQUIRES: it changes between the two, once.
  [[nodiscard]] static int64_t find_change(int64_t before_s, int64_t after_s) {
    const int32_t old = offset_s(before_s);
    while (after_s - before_s > 1) {
      const int64_t middle_s = before_s + (after_s - before_s) / 2;
      (offset_s(middle_s) == old ? before_s : after_s) = middle_s;
    }
    return after_s;
  }

 private:
  std::optional<std::string> before_;
};

}  // namespace

TimeZone::TimeZone(int32_t offset_s, std::vector<Change> changes)
    : first_offset_s_(offset_s), changes_(std::move(changes)) {}

Status TimeZone::check(std::string_view name) {
  if (name == "UTC" || read_offset(name)) return {};
  constexpr std::string_view kChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
  const bool known = !name.empty() && name.front() != '/' &&
                     name.find_first_not_of(kChars) == std::string_view::npos &&
                     is_zone_file(std::string(kDatabase).append(name));
  if (known) return {};
  return fail("UTC, an offset like +05:30, or a name below " + std::string(kDatabase) +
              " like Europe/Berlin (Debian: tzdata)");
}

Result<TimeZone> TimeZone::load(const std::string& name, int64_t from_s) {
  if (const Status known = check(name); !known) return std::unexpected(known.error());
  if (name == "UTC") return TimeZone();
  if (const std::optional<int32_t> fixed = read_offset(name)) return TimeZone(*fixed);
  const ZoneOfProcess zone(name);
  const int32_t first_s = ZoneOfProcess::offset_s(from_s);
  std::vector<Change> changes;
  int32_t offset_s = first_s;
  // No zone changes twice in a day.
  for (int64_t day_s = from_s; day_s < from_s + int64_t{kYears} * 366 * kDaySeconds; day_s += kDaySeconds) {
    const int32_t next_s = ZoneOfProcess::offset_s(day_s + kDaySeconds);
    if (next_s == offset_s) continue;
    changes.push_back({.at_s = ZoneOfProcess::find_change(day_s, day_s + kDaySeconds), .offset_s = next_s});
    offset_s = next_s;
  }
  return TimeZone(first_s, std::move(changes));
}

int32_t TimeZone::offset_s(int64_t at_s) const {
  const auto next = std::ranges::upper_bound(changes_, at_s, {}, &Change::at_s);
  return next == changes_.begin() ? first_offset_s_ : std::prev(next)->offset_s;
}

int64_t TimeZone::next_change_s(int64_t at_s) const {
  const auto next = std::ranges::upper_bound(changes_, at_s, {}, &Change::at_s);
  return next == changes_.end() ? kNever : next->at_s;
}

}  // namespace taut::gateway
