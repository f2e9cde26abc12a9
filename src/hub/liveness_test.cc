#include "hub/liveness.h"

#include <gtest/gtest.h>

namespace taut::hub {
namespace {

constexpr int64_t kInterval = 25'000'000'000;
using Verdict = Liveness::Verdict;

TEST(Liveness, PingsEveryIntervalWhileAnswered) {
  Liveness live;
  live.start(0, kInterval);
  for (int64_t i = 1; i < 10; ++i) {
    EXPECT_EQ(live.judge(i * kInterval - 1, kInterval), Verdict::wait);
    EXPECT_EQ(live.judge(i * kInterval, kInterval), Verdict::ping);
    live.on_pong();
  }
}

TEST(Liveness, IsDeadOneAndAHalfIntervalsAfterTheFirstUnansweredPing) {
  Liveness live;
  live.start(0, kInterval);
  EXPECT_EQ(live.judge(kInterval, kInterval), Verdict::ping);
  EXPECT_EQ(live.judge(2 * kInterval, kInterval), Verdict::ping);
  EXPECT_EQ(live.judge(kInterval * 5 / 2 - 1, kInterval), Verdict::wait);
  EXPECT_EQ(live.judge(kInterval * 5 / 2, kInterval), Verdict::dead);
}

TEST(Liveness, SaysHowLongNothingWillChange) {
  Liveness live;
  live.start(100, kInterval);
  EXPECT_EQ(live.wait_ns(100), kInterval);
  EXPECT_EQ(live.judge(100 + kInterval, kInterval), Verdict::ping);
  EXPECT_EQ(live.wait_ns(100 + kInterval), kInterval);
  EXPECT_EQ(live.judge(100 + 2 * kInterval, kInterval), Verdict::ping);
  EXPECT_EQ(live.wait_ns(100 + 2 * kInterval), kInterval / 2);
}

TEST(RunningClock, CountsAFrozenMinuteAsOneTick) {
  RunningClock clock(1'000'000'000);
  clock.tick(1);
  clock.tick(1 + 1'000'000'000);
  EXPECT_EQ(clock.running_ns(), 1'000'000'000);
  clock.tick(1 + 61'000'000'000);
  EXPECT_EQ(clock.running_ns(), 2'250'000'000);
}

TEST(RunningClock, MayBeReadBetweenTicks) {
  RunningClock clock(1'000'000'000);
  clock.tick(1);
  clock.tick(1 + 300'000'000);
  EXPECT_EQ(clock.running_ns(), 300'000'000);
  clock.tick(1 + 300'000'000);
  clock.tick(1 + 60'300'000'000);
  EXPECT_EQ(clock.running_ns(), 1'550'000'000);
}

}  // namespace
}  // namespace taut::hub
