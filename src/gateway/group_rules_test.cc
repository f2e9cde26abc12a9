#include "gateway/group_rules.h"

#include <gtest/gtest.h>

#include <string>

#include "base/clock.h"

namespace taut::gateway {
namespace {

constexpr int64_t kMondayMs = 1'699'833'600'000;  // 2023-11-13 00:00 UTC

Settings three_groups() {
  Settings settings;
  settings.groups = {"sales", "support", "night"};
  return settings;
}

std::string fault(const Settings& settings) {
  const Result<GroupRules> rules = read_group_rules(settings);
  return rules ? "" : rules.error().message;
}

TEST(GroupRules, HoursAreOfTheirGroupAloneAndOthersAreAlwaysOpen) {
  Settings settings = three_groups();
  settings.hours = {"support=Mo-Fr 09:00-18:00"};
  Result<GroupRules> rules = read_group_rules(settings);
  ASSERT_TRUE(rules.has_value());
  EXPECT_FALSE(rules->state(1, kMondayMs).open);
  EXPECT_EQ(rules->state(1, kMondayMs).changes_at_ms, kMondayMs + 9 * kHourMs);
  EXPECT_TRUE(rules->state(0, kMondayMs).open);
  EXPECT_TRUE(rules->state(2, kMondayMs).open);
  rules->zone = TimeZone(9 * 3'600);
  EXPECT_TRUE(rules->state(1, kMondayMs).open) << "it is nine there";
  EXPECT_TRUE(GroupRules().state(5, kMondayMs).open);
}

TEST(GroupRules, OverflowAfterATimeOrWhenClosed) {
  Settings settings = three_groups();
  settings.overflows = {"sales=support after 2min", "support=night when closed"};
  const Result<GroupRules> rules = read_group_rules(settings);
  ASSERT_TRUE(rules.has_value());
  EXPECT_EQ(rules->overflow[0].to, 1U);
  EXPECT_EQ(rules->overflow[0].after_ns, 120'000'000'000);
  EXPECT_EQ(rules->overflow[1].to, 2U);
  EXPECT_EQ(rules->overflow[1].after_ns, chat::Dispatcher::kNoDeadline);
  EXPECT_EQ(rules->overflow[2].to, chat::kNoGroup);
}

TEST(GroupRules, WhatIsWrongNamesTheSettingTheValueAndWhatWasExpected) {
  const auto hours = [](std::vector<std::string> texts) {
    Settings settings = three_groups();
    settings.hours = std::move(texts);
    return fault(settings);
  };
  EXPECT_EQ(hours({"sales"}), R"(--hours "sales": begins with a group, as in sales=)");
  EXPECT_EQ(hours({"x=Mo 09:00-10:00"}), R"(--hours "x=Mo 09:00-10:00": there is no --group x)");
  EXPECT_EQ(
      hours({"sales=Mo 9-10"}),
      R"(--hours "sales=Mo 9-10": Mo 9-10: times are like 09:00-18:00, the end another than the beginning)");
  EXPECT_EQ(hours({"sales=Mo 09:00-10:00", "sales=Tu 09:00-10:00"}),
            R"(--hours "sales=Tu 09:00-10:00": the group has hours already; join them with a comma)");
  const auto overflow = [](std::vector<std::string> texts) {
    Settings settings = three_groups();
    settings.overflows = std::move(texts);
    return fault(settings);
  };
  EXPECT_EQ(overflow({"sales=sales after 1min"}),
            R"(--overflow "sales=sales after 1min": a group cannot overflow into itself)");
  EXPECT_EQ(overflow({"sales=x when closed"}), R"(--overflow "sales=x when closed": there is no --group x)");
  for (const char* text :
       {"sales=support", "sales=support ", "sales=support soon", "sales=support when closed ",
        "sales=support after", "sales=support after 0", "sales=support after 999ms",
        "sales=support after 25h", "sales=", "=support when closed"}) {
    EXPECT_NE(overflow({text}), "") << text;
  }
  EXPECT_NE(overflow({"sales=support when closed", "sales=night when closed"}).find("overflows already"),
            std::string::npos);
}

}  // namespace
}  // namespace taut::gateway
