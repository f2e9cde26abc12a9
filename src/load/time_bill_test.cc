#include "load/time_bill.h"

#include <gtest/gtest.h>

namespace taut::load {
namespace {

TEST(StageTotals, AreReadFromTheMetricsAndSubtracted) {
  constexpr std::string_view kBefore =
      "# HELP taut_stage_seconds x\ntaut_stage_seconds{stage=\"parse\",quantile=\"0.5\"} 9\n"
      "taut_stage_seconds_sum{stage=\"parse\"} 1.5\ntaut_stage_seconds_count{stage=\"parse\"} 3\n"
      "taut_message_seconds_sum 2\ntaut_message_seconds_count 3\n";
  constexpr std::string_view kAfter =
      "HTTP/1.1 200 OK\r\n\r\ntaut_stage_seconds_sum{stage=\"parse\"} 2.5e0\n"
      "taut_stage_seconds_sum{stage=\"ring\"} 0.25\ntaut_message_seconds_sum 4.5\ntaut_message_seconds_count "
      "13";
  const auto before = parse_stage_totals(kBefore);
  const auto after = parse_stage_totals(kAfter);
  ASSERT_TRUE(before && after);
  const StageTotals between = *after - *before;
  EXPECT_DOUBLE_EQ(between.stage_s.at("parse"), 1);
  EXPECT_DOUBLE_EQ(between.stage_s.at("ring"), 0.25);
  EXPECT_DOUBLE_EQ(between.message_s, 2.5);
  EXPECT_DOUBLE_EQ(between.messages, 10);
}

TEST(StageTotals, OfSomethingElseAreNone) {
  EXPECT_FALSE(parse_stage_totals(""));
  EXPECT_FALSE(parse_stage_totals("HTTP/1.1 404 Not Found\r\n\r\n"));
  EXPECT_FALSE(parse_stage_totals("taut_stage_seconds_sum{stage=\"par"));
  EXPECT_FALSE(read_stage_totals("nats://127.0.0.1:1"));
}

}  // namespace
}  // namespace taut::load
