#include "load/latency_report.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace taut::load {
namespace {

// 1,000 messages of 100 µs, sent on time.
ChatReport report() {
  ChatReport r;
  r.options.emplace();
  r.options->url = "relay://127.0.0.1:1";
  r.options->rate = 1000;
  r.phase.sent = r.phase.delivered = 1000;
  r.phase.delivered_ns = 1'000'000'000;
  r.phase.latency.record(100'000, 1000);
  r.phase.lag.record(1'000, 1000);
  return r;
}

TEST(LatencyReport, IsUsableWhenTheClientKeptItsScheduleAndNothingIsMissing) {
  EXPECT_EQ(void_reason(report().phase), "");
}

TEST(LatencyReport, IsVoidWhenOneMessageIsMissing) {
  ChatReport r = report();
  r.phase.faults.lost = 1;
  EXPECT_NE(void_reason(r.phase), "");
}

TEST(LatencyReport, IsVoidBeyondAFifthOfLagAtTheNinetyNinthPercentile) {
  ChatReport r = report();
  r.phase.lag.record(19'000, 1000);
  EXPECT_EQ(void_reason(r.phase), "");
  r.phase.lag.record(22'000, 1000);
  EXPECT_NE(void_reason(r.phase), "");
}

TEST(LatencyReport, IsVoidWhenNothingWasSent) {
  EXPECT_NE(void_reason(PhaseResult()), "");
}

TEST(LatencyReport, WritesJsonWithUnitsPerMessage) {
  ChatReport r = report();
  r.server = ProcStats{.cpu_ns = 5'000'000, .voluntary = 50, .involuntary = 10};
  simdjson::dom::parser parser;
  const simdjson::dom::element json = parser.parse(to_json(r));
  EXPECT_EQ(uint64_t(json["sent"]), 1000U);
  EXPECT_FALSE(bool(json["void"]));
  EXPECT_DOUBLE_EQ(double(json["throughput_per_s"]), 1000);
  EXPECT_NEAR(double(json["latency_us"]["p99"]), 100, 0.1);
  EXPECT_NEAR(double(json["lag_us"]["max"]), 1, 0.001);
  EXPECT_DOUBLE_EQ(double(json["server"]["cpu_us_per_msg"]), 5);
  EXPECT_DOUBLE_EQ(double(json["server"]["voluntary_per_msg"]), 0.05);
  EXPECT_EQ(std::string_view(json["settings"]["arrivals"]), "even");
}

TEST(LatencyReport, StaysJsonWhateverTheUrlIs) {
  ChatReport r = report();
  r.options->url = "a\"b\\c\nd";
  simdjson::dom::parser parser;
  simdjson::dom::element json;
  EXPECT_EQ(parser.parse(to_json(r)).get(json), simdjson::SUCCESS);
}

}  // namespace
}  // namespace taut::load
