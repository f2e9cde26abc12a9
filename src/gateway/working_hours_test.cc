#include "gateway/working_hours.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace taut::gateway {
namespace {

constexpr uint32_t kDay = 24 * 60;  // minutes
constexpr int64_t kDaySeconds = 86'400;
constexpr int64_t kMonday = 1'699'833'600;  // 2023-11-13 00:00 UTC, a Monday
constexpr int64_t kMinuteMs = 60'000;

WorkingHours hours(std::string_view text) {
  Result<WorkingHours> read = WorkingHours::parse(text);
  EXPECT_TRUE(read.has_value()) << text;
  return std::move(*read);
}

uint32_t minute(uint32_t day, uint32_t hour, uint32_t min = 0) {
  return day * kDay + hour * 60 + min;
}

/// "Mo-Tu 540-1080": open minutes as ranges of the week.
std::vector<std::pair<uint32_t, uint32_t>> ranges(const WorkingHours& h) {
  std::vector<std::pair<uint32_t, uint32_t>> found;
  for (uint32_t m = 0; m < WorkingHours::kMinutes; ++m) {
    if (!h.open_at(m)) continue;
    if (found.empty() || found.back().second != m) found.emplace_back(m, m);
    found.back().second = m + 1;
  }
  return found;
}
using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

TEST(WorkingHours, DaysTimesAndWhatIsInherited) {
  EXPECT_EQ(ranges(hours("Mo 09:00-18:00")), (Ranges{{540, 1080}}));
  EXPECT_EQ(ranges(hours("Mo-Tu 09:00-12:00,13:00-18:00,Su 10:30-11:00")),
            (Ranges{{540, 720},
                    {780, 1080},
                    {minute(1, 9), minute(1, 12)},
                    {minute(1, 13), minute(1, 18)},
                    {minute(6, 10, 30), minute(6, 11)}}));
  EXPECT_EQ(ranges(hours("Sa-Mo 01:00-02:00")),
            (Ranges{{60, 120}, {minute(5, 1), minute(5, 2)}, {minute(6, 1), minute(6, 2)}}));
  EXPECT_EQ(ranges(hours("Mo 08:00-10:00,09:00-11:00")), (Ranges{{480, 660}})) << "they may overlap";
  EXPECT_EQ(ranges(hours("Mo 23:59-24:00")), (Ranges{{1439, 1440}}));
}

TEST(WorkingHours, AnEndThatIsNotLaterIsOfTheNextDayAndTheWeekIsRound) {
  EXPECT_EQ(ranges(hours("Fr 22:00-02:00")), (Ranges{{minute(4, 22), minute(5, 2)}}));
  EXPECT_EQ(ranges(hours("Su 22:00-02:00")), (Ranges{{0, 120}, {minute(6, 22), minute(7, 0)}}));
  EXPECT_EQ(ranges(hours("Mo-Su 00:00-24:00")), (Ranges{{0, WorkingHours::kMinutes}}));
}

TEST(WorkingHours, TheTimeToTheNextChangeIsThatOfALookAtEachMinute) {
  for (const char* text : {"Mo 09:00-18:00", "Mo-Fr 09:00-12:00,13:00-18:00", "Su 22:00-02:00",
                           "Mo 00:00-00:01", "Su 23:59-24:00", "Mo-Sa 00:00-24:00"}) {
    const WorkingHours h = hours(text);
    for (uint32_t m = 0; m < WorkingHours::kMinutes; ++m) {
      uint32_t expected = 1;
      while (h.open_at((m + expected) % WorkingHours::kMinutes) == h.open_at(m)) ++expected;
      ASSERT_EQ(h.minutes_to_change(m), expected) << text << " at " << m;
      if (expected > 3) m += expected - 3;  // far from a change every minute is alike
    }
  }
  EXPECT_EQ(hours("Mo-Su 00:00-24:00").minutes_to_change(77), 0U);
}

TEST(WorkingHours, WhatIsNoneIsRefusedAndNamed) {
  for (const char* text : {"",
                           "Mo",
                           "09:00-18:00",
                           "Mo 9:00-18:00",
                           "Mo 09:00",
                           "Mo 09:00-",
                           "Mo 24:00-24:00",
                           "Mo 24:00-01:00",
                           "Mo 09:60-10:00",
                           "Mo 09:00-24:01",
                           "Mo 09:00-25:00",
                           "Mo 09:00-09:00",
                           "Mon 09:00-10:00",
                           "Mo- 09:00-10:00",
                           "-Fr 09:00-10:00",
                           "mo 09:00-10:00",
                           "Mo  09:00-10:00",
                           "Mo 09:00-10:00,",
                           "Mo 09:00-10:00,,Tu 09:00-10:00",
                           "Mo 09:00-10:00 ",
                           "Mo-Tu-We 09:00-10:00",
                           "Mo 0a:00-10:00"}) {
    const Result<WorkingHours> read = WorkingHours::parse(text);
    EXPECT_FALSE(read.has_value()) << text;
  }
  EXPECT_NE(WorkingHours::parse("Mo 09:00-10:00,Xx 1").error().message.find("Xx 1"), std::string::npos);
}

/// Compares with a look at each minute of `days` from kMonday + `from_days` on, backwards.
void expect_like_each_minute(const WorkingHours& h, const TimeZone& zone, int64_t from_s, int days) {
  const int64_t minutes = int64_t{days} * kDay;
  const auto open_then = [&](int64_t i) {
    const int64_t local_s = from_s + i * 60 + zone.offset_s(from_s + i * 60);
    const int64_t minute_of_week = (local_s - kMonday) / 60 % WorkingHours::kMinutes;
    return h.open_at(static_cast<uint32_t>(minute_of_week));
  };
  int64_t change = -1;  // unknown: beyond what is looked at
  for (int64_t i = minutes - 1; i >= 0; --i) {
    if (open_then(i) != open_then(i + 1)) change = i + 1;
    const OpenState state = open_state(h, zone, from_s * 1'000 + i * kMinuteMs + 59'999);
    ASSERT_EQ(state.open, open_then(i)) << i;
    if (change >= 0) {
      ASSERT_EQ(state.changes_at_ms, from_s * 1'000 + change * kMinuteMs) << i;
    }
  }
}

TEST(OpenState, IsThatOfALookAtEachMinuteAlsoWhereTheClocksArePutOnAndBack) {
  // Summer time ends on the first Sunday at 01:00 UTC and begins again a week later.
  const int64_t sunday = kMonday + 6 * kDaySeconds;
  const TimeZone zone(7'200, {{.at_s = sunday + 3'600, .offset_s = 3'600},
                              {.at_s = sunday + 7 * kDaySeconds + 3'600, .offset_s = 7'200}});
  for (const char* text : {"Mo-Fr 09:00-18:00", "Su 02:00-03:00", "Su 02:30-02:45", "Sa 22:00-02:30",
                           "Su 03:00-24:00", "Mo-Su 00:00-02:00", "Mo-Su 00:00-24:00"}) {
    SCOPED_TRACE(text);
    expect_like_each_minute(hours(text), zone, kMonday, 16);
  }
}

TEST(OpenState, ZonesWestAndEastOfHalfHours) {
  for (const int32_t offset_s : {-9 * 3'600 - 1'800, 5 * 3'600 + 1'800, 14 * 3'600, -12 * 3'600}) {
    expect_like_each_minute(hours("Mo-Fr 09:00-18:00"), TimeZone(offset_s), kMonday + 86'400, 8);
  }
}

TEST(OpenState, WhatIsAlwaysOpenNeverChanges) {
  const OpenState state = open_state(hours("Mo-Su 00:00-24:00"),
                                     TimeZone(0, {{.at_s = kMonday, .offset_s = 60}}), kMonday * 1'000 - 1);
  EXPECT_TRUE(state.open);
  EXPECT_EQ(state.changes_at_ms, INT64_MAX);
}

TEST(TimeZone, OffsetsAndNames) {
  EXPECT_EQ(TimeZone::load("UTC", kMonday)->offset_s(kMonday), 0);
  EXPECT_EQ(TimeZone::load("+05:30", kMonday)->offset_s(0), 19'800);
  EXPECT_EQ(TimeZone::load("-03:00", kMonday)->next_change_s(0), TimeZone::kNever);
  for (const char* name : {"", "Europe/Nowhere", "../../etc/passwd", "/etc/passwd", "+5", "+15:00", "+05:60",
                           "Europe", "+0a:00", "Europe/Berlin "}) {
    EXPECT_FALSE(TimeZone::check(name).has_value()) << name;
    EXPECT_FALSE(TimeZone::load(name, kMonday).has_value()) << name;
  }
}

TEST(TimeZone, ChangesOfTheHostsDatabaseAreFoundToTheSecond) {
  if (!TimeZone::check("Europe/Berlin")) GTEST_SKIP() << "no time zone database here";
  const Result<TimeZone> berlin = TimeZone::load("Europe/Berlin", kMonday);
  ASSERT_TRUE(berlin.has_value());
  constexpr int64_t kMarch = 1'711'846'800;    // 2024-03-31 01:00 UTC
  constexpr int64_t kOctober = 1'729'990'800;  // 2024-10-27 01:00 UTC
  EXPECT_EQ(berlin->offset_s(kMonday), 3'600);
  EXPECT_EQ(berlin->next_change_s(kMonday), kMarch);
  EXPECT_EQ(berlin->offset_s(kMarch - 1), 3'600);
  EXPECT_EQ(berlin->offset_s(kMarch), 7'200);
  EXPECT_EQ(berlin->next_change_s(kMarch), kOctober);
  EXPECT_EQ(berlin->offset_s(kOctober), 3'600);
  EXPECT_EQ(berlin->offset_s(kMonday + 15 * 365 * kDaySeconds + 200 * kDaySeconds), 7'200) << "still known";
  expect_like_each_minute(hours("Mo-Fr 09:00-18:00,Su 02:30-03:30"), *berlin,
                          kOctober - 7 * kDaySeconds - 3'600, 14);
}

}  // namespace
}  // namespace taut::gateway
