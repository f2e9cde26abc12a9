#include "core/spin_gate.h"

#include <gtest/gtest.h>

#include "core/proc_gate_source.h"

namespace taut {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1'000 * kMs;

/// A host that is read every 100 ms, with what each step takes from us.
class Host {
 public:
  explicit Host(const SpinGate::Options& options) : gate(options) {}

  struct Step {
    int64_t run_delay_ns = 0;
    uint64_t steal_ticks = 0;
    uint64_t throttled = 0;
  };

  void step(const Step& step) {
    reading.at_ns += SpinGate::kReadEveryNs;
    reading.total_ticks += 20;  // two processors
    reading.run_delay_ns += step.run_delay_ns;
    reading.steal_ticks += step.steal_ticks;
    reading.throttled += step.throttled;
    gate.feed(reading);
  }
  void steps(int count, const Step& each) {
    for (int i = 0; i < count; ++i) step(each);
  }
  [[nodiscard]] bool open() const { return gate.open(reading.at_ns); }

  SpinGate gate;
  GateReading reading{.at_ns = 5 * kSecond};
};

TEST(SpinGate, StaysOpenOnACleanHost) {
  Host host({});
  host.steps(100, {});
  EXPECT_TRUE(host.open());
  EXPECT_EQ(host.gate.closures(), 0U);
}

TEST(SpinGate, ClosesForASecondAtAnyThrottling) {
  Host host({});
  host.steps(3, {});
  host.step({.throttled = 1});
  EXPECT_FALSE(host.open());
  EXPECT_FALSE(host.gate.open(host.reading.at_ns + kSecond - 1));
  EXPECT_TRUE(host.gate.open(host.reading.at_ns + kSecond));
}

TEST(SpinGate, ClosesAboveFivePercentRunQueueDelay) {
  Host host({});
  host.steps(20, {.run_delay_ns = 4 * kMs});  // 4 % of the second
  EXPECT_TRUE(host.open());
  host.steps(10, {.run_delay_ns = 7 * kMs});
  EXPECT_FALSE(host.open());
}

TEST(SpinGate, ForgivesOnePreemption) {
  Host host({});
  host.steps(10, {});
  host.step({.run_delay_ns = 30 * kMs});
  EXPECT_TRUE(host.open());
}

TEST(SpinGate, ClosesAboveFivePercentSteal) {
  Host host({});
  host.steps(20, {});
  host.steps(10, {.steal_ticks = 1});  // one tick of 20: 5 %, not above
  EXPECT_TRUE(host.open());
  host.steps(10, {.steal_ticks = 3});
  EXPECT_FALSE(host.open());
}

TEST(SpinGate, DoublesUpToThirtySecondsWhileItGoesOn) {
  Host host({});
  host.step({});
  for (const int64_t hold_s : {1, 2, 4, 8, 16, 30, 30}) {
    host.step({.throttled = 1});
    ASSERT_FALSE(host.open());
    EXPECT_FALSE(host.gate.open(host.reading.at_ns + hold_s * kSecond - 1)) << hold_s;
    EXPECT_TRUE(host.gate.open(host.reading.at_ns + hold_s * kSecond)) << hold_s;
    while (!host.open()) host.step({});
  }
}

TEST(SpinGate, BeginsAgainWithOneSecondAfterACleanTime) {
  Host host({});
  host.step({});
  host.step({.throttled = 1});
  while (!host.open()) host.step({});
  host.steps(101, {});
  host.step({.throttled = 1});
  EXPECT_TRUE(host.gate.open(host.reading.at_ns + kSecond));
}

TEST(SpinGate, DoesNotHoldTheTimeParkedAgainstTheHost) {
  Host host({});
  host.step({});
  host.reading.throttled += 5;  // an hour parked; who knows when
  host.reading.at_ns += 3600 * kSecond;
  host.step({});
  EXPECT_TRUE(host.open());
}

TEST(SpinGate, WantsAReadingEvery100MsAndNoMore) {
  SpinGate gate({});
  EXPECT_TRUE(gate.reading_due(0));
  gate.feed({.at_ns = 7 * kSecond});
  EXPECT_FALSE(gate.reading_due(7 * kSecond + 100 * kMs - 1));
  EXPECT_TRUE(gate.reading_due(7 * kSecond + 100 * kMs));
}

TEST(SpinGate, OpensTheFirstUsableCoresMinusOneAtOnceAndTheRestAfterACleanSecond) {
  for (const uint32_t spinner : {0U, 1U, 2U}) {
    Host host(SpinGate::options_for(spinner, 4));
    host.step({});
    EXPECT_TRUE(host.open()) << spinner;
  }
  Host last(SpinGate::options_for(3, 4));
  last.step({});
  EXPECT_FALSE(last.open());
  last.steps(9, {});
  EXPECT_FALSE(last.open());
  last.step({});
  EXPECT_TRUE(last.open());
}

TEST(SpinGate, EarnsItsFirstOpeningOnlyOnAHostThatIsClean) {
  Host host(SpinGate::options_for(1, 2));
  host.steps(50, {.run_delay_ns = 10 * kMs});
  EXPECT_FALSE(host.open());
  host.steps(30, {});
  EXPECT_TRUE(host.open());
}

TEST(SpinGate, WithOneCoreSpinsWhileTheLast200MsWereClean) {
  Host host(SpinGate::options_for(0, 1));
  host.step({});
  EXPECT_FALSE(host.open());
  host.steps(2, {});
  EXPECT_TRUE(host.open());
  host.step({.run_delay_ns = 15 * kMs});
  EXPECT_FALSE(host.open());
  host.steps(2, {});
  EXPECT_TRUE(host.open());
}

TEST(ProcGateSource, ReadsStealAndTotalOfAllProcessors) {
  GateReading reading;
  internal::parse_stat("cpu  10 1 5 100 2 0 3 7 40 0\ncpu0 1 1 1 1 1 1 1 1\n", reading);
  EXPECT_EQ(reading.steal_ticks, 7U);
  EXPECT_EQ(reading.total_ticks, 128U);  // guest time is in user already
}

TEST(ProcGateSource, TakesWhatDoesNotParseAsClean) {
  GateReading reading;
  internal::parse_stat("", reading);
  internal::parse_stat("cpu  10 1 5\n", reading);
  internal::parse_stat("intr 1 2 3 4 5 6 7 8 9\n", reading);
  EXPECT_EQ(reading.total_ticks, 0U);
  EXPECT_EQ(internal::parse_run_delay_ns(""), 0);
  EXPECT_EQ(internal::parse_run_delay_ns("12"), 0);
  EXPECT_EQ(internal::parse_throttled("nr_periods 3\n"), 0U);
}

TEST(ProcGateSource, ReadsRunDelayAndThrottling) {
  EXPECT_EQ(internal::parse_run_delay_ns("4803332 1322364 3\n"), 1'322'364);
  EXPECT_EQ(internal::parse_throttled("nr_periods 9\nnr_throttled 4\nthrottled_time 123\n"), 4U);
}

TEST(ProcGateSource, ReadsThisHostWithoutGoingBack) {
  ProcGateSource source;
  const GateReading first = source.read(1);
  const GateReading second = source.read(2);
  EXPECT_EQ(second.at_ns, 2);
  EXPECT_GE(second.total_ticks, first.total_ticks);
  EXPECT_GE(second.run_delay_ns, first.run_delay_ns);
}

TEST(ProcGateSource, ReadsNothingWhereThereIsNothing) {
  ProcGateSource source("/nonexistent");
  const GateReading reading = source.read(1);
  EXPECT_EQ(reading.total_ticks, 0U);
  EXPECT_EQ(reading.throttled, 0U);
}

}  // namespace
}  // namespace taut
