#include "core/parker.h"

#include <gtest/gtest.h>

namespace taut {
namespace {

constexpr int64_t kUs = 1'000;
constexpr int64_t kS = 1'000'000'000;

class CountingSource final : public GateSource {
 public:
  GateReading read(int64_t now_ns) noexcept override {
    ++reads;
    reading.at_ns = now_ns;
    return reading;
  }
  GateReading reading;
  int reads = 0;
};

/// One idle period from `from_ns` on: asks every microsecond until work comes after gap_ns; returns how long
/// it spun.
int64_t idle_period(Parker& parker, int64_t from_ns, int64_t gap_ns) {
  int64_t spun_ns = 0;
  while (spun_ns < gap_ns && !parker.should_park(from_ns + spun_ns)) spun_ns += kUs;
  parker.worked(from_ns + gap_ns + (spun_ns < gap_ns ? parker.budget().wake_cost_ns() : 0));
  return spun_ns;
}

WaitOptions with(WaitOptions::Strategy strategy) {
  return {.strategy = strategy};
}

TEST(Parker, ParkStrategyParksAtOnceAndReadsNoGate) {
  CountingSource source;
  Parker parker(with(WaitOptions::Strategy::park), {}, &source);
  for (int64_t now_ns = 0; now_ns < 10 * kS; now_ns += kS) {
    EXPECT_TRUE(parker.should_park(now_ns));
    parker.worked(now_ns + 10 * kUs);
  }
  EXPECT_EQ(source.reads, 0);
}

TEST(Parker, BusyStrategyNeverParks) {
  Parker parker(with(WaitOptions::Strategy::busy), {}, nullptr);
  EXPECT_FALSE(parker.should_park(0));
  EXPECT_FALSE(parker.should_park(3600 * kS));
}

TEST(Parker, NeverParksUnderTheLaddersOfOtherPrograms) {
  for (const auto strategy :
       {WaitOptions::Strategy::yield, WaitOptions::Strategy::dotnet, WaitOptions::Strategy::backoff}) {
    CountingSource source;
    Parker parker(with(strategy), {}, &source);
    EXPECT_FALSE(parker.should_park(0));
    EXPECT_FALSE(parker.should_park(3600 * kS));
    EXPECT_EQ(source.reads, 0);
  }
}

TEST(Parker, SpinParkSpinsForItsFixedTimeWhateverTheHostSays) {
  CountingSource source;
  source.reading.throttled = 1;
  Parker parker({.strategy = WaitOptions::Strategy::spin_park, .spin_ns = 7 * kUs}, {}, &source);
  for (int64_t i = 1; i < 600; ++i) {  // long enough for two choices of a budget
    EXPECT_FALSE(parker.should_park(i * kS));
    EXPECT_FALSE(parker.should_park(i * kS + 7 * kUs - 1));
    EXPECT_TRUE(parker.should_park(i * kS + 7 * kUs));
    parker.worked(i * kS + 1'000 * kUs);
  }
  EXPECT_EQ(source.reads, 0);
}

TEST(Parker, AdaptiveSpinsForTheBudgetThenParks) {
  Parker parker(with(WaitOptions::Strategy::adaptive), {}, nullptr);
  const int64_t budget_ns = parker.budget().budget_ns();
  EXPECT_FALSE(parker.should_park(kS));
  EXPECT_FALSE(parker.should_park(kS + budget_ns - 1));
  EXPECT_TRUE(parker.should_park(kS + budget_ns));
}

TEST(Parker, StaysParkedThroughAnEmptyWake) {
  Parker parker(with(WaitOptions::Strategy::adaptive), {}, nullptr);
  ASSERT_FALSE(parker.should_park(kS));
  ASSERT_TRUE(parker.should_park(2 * kS));
  EXPECT_TRUE(parker.should_park(2 * kS + 1));  // woken for nothing: straight back
}

TEST(Parker, WorkBeginsANewIdlePeriod) {
  Parker parker(with(WaitOptions::Strategy::adaptive), {}, nullptr);
  ASSERT_FALSE(parker.should_park(kS));
  ASSERT_TRUE(parker.should_park(2 * kS));
  parker.worked(3 * kS);
  EXPECT_FALSE(parker.should_park(3 * kS + 1));
}

TEST(Parker, AdaptiveEndsUpParkingAtOnceWhenMessagesAreRare) {
  Parker parker(with(WaitOptions::Strategy::adaptive), {}, nullptr);
  int64_t now_ns = kS;
  for (int i = 0; i < 512; ++i, now_ns += 2'000 * kUs) idle_period(parker, now_ns, 1'000 * kUs);
  EXPECT_EQ(idle_period(parker, now_ns, 1'000 * kUs), 0);
}

TEST(Parker, AdaptiveEndsUpSpinningThroughShortGaps) {
  Parker parker(with(WaitOptions::Strategy::adaptive), {}, nullptr);
  int64_t now_ns = kS;
  for (int i = 0; i < 512; ++i, now_ns += 100 * kUs) idle_period(parker, now_ns, 50 * kUs);
  EXPECT_EQ(idle_period(parker, now_ns, 50 * kUs), 50 * kUs);
}

TEST(Parker, DoesNotTakeBackToBackWorkForIdlePeriods) {
  Parker parker(with(WaitOptions::Strategy::adaptive), {}, nullptr);
  const int64_t before_ns = parker.budget().budget_ns();
  for (int64_t i = 0; i < 10'000; ++i) {
    static_cast<void>(parker.should_park(kS + i * 10 * kUs));
    parker.worked(kS + i * 10 * kUs + 500);
  }
  EXPECT_EQ(parker.budget().budget_ns(), before_ns);
}

TEST(Parker, ParksAtOnceWhileTheGateIsClosed) {
  CountingSource source;
  Parker parker(with(WaitOptions::Strategy::adaptive), {}, &source);
  int64_t now_ns = kS;
  idle_period(parker, now_ns, 20 * kUs);
  source.reading.throttled = 1;
  now_ns += 200'000 * kUs;
  idle_period(parker, now_ns, 20 * kUs);
  now_ns += 100 * kUs;
  EXPECT_EQ(idle_period(parker, now_ns, 20 * kUs), 0);
  EXPECT_EQ(parker.allowed_ns(), 0);
  EXPECT_GT(idle_period(parker, now_ns + 2 * kS, 20 * kUs), 0);  // the second is over
}

TEST(Parker, ReadsTheGateAtMostEvery100Ms) {
  CountingSource source;
  Parker parker(with(WaitOptions::Strategy::adaptive), {}, &source);
  for (int64_t now_ns = kS; now_ns < 2 * kS; now_ns += 50 * kUs) idle_period(parker, now_ns, 20 * kUs);
  EXPECT_GE(source.reads, 9);
  EXPECT_LE(source.reads, 11);
}

TEST(Parker, ReadsNoGateOnceParkingIsCheaperAnyway) {
  CountingSource source;
  Parker parker(with(WaitOptions::Strategy::adaptive), {}, &source);
  int64_t now_ns = kS;
  for (int i = 0; i < 512; ++i, now_ns += 2'000 * kUs) idle_period(parker, now_ns, 1'000 * kUs);
  const int before = source.reads;
  for (int i = 0; i < 512; ++i, now_ns += 2'000 * kUs) idle_period(parker, now_ns, 1'000 * kUs);
  EXPECT_EQ(source.reads, before);
}

}  // namespace
}  // namespace taut
