#include "hub/liveness.h"

#include <gtest/gtest.h>

namespace taut::hub {
namespace {

constexpr int64_t kInterval = 25'000'000'000;
using Verdict = Liveness::Verdict;

/// judge(), and where it says ping there is room for one.
Verdict judge_and_ping(Liveness& live, int64_t running_ns) {
  const Verdict verdict = live.judge(running_ns);
  if (verdict == Verdict::ping) live.on_ping(running_ns, kInterval);
  return verdict;
}

TEST(Liveness, PingsEveryIntervalWhileAnswered) {
  Liveness live;
  live.start(0, kInterval);
  for (int64_t i = 1; i < 10; ++i) {
    EXPECT_EQ(judge_and_ping(live, i * kInterval - 1), Verdict::wait);
    EXPECT_EQ(judge_and_ping(live, i * kInterval), Verdict::ping);
    live.on_pong();
  }
}

TEST(Liveness, IsDeadOneAndAHalfIntervalsAfterTheFirstUnansweredPing) {
  Liveness live;
  live.start(0, kInterval);
  EXPECT_EQ(judge_and_ping(live, kInterval), Verdict::ping);
  EXPECT_EQ(judge_and_ping(live, 2 * kInterval), Verdict::ping);
  EXPECT_EQ(judge_and_ping(live, kInterval * 5 / 2 - 1), Verdict::wait);
  EXPECT_EQ(judge_and_ping(live, kInterval * 5 / 2), Verdict::dead);
}

TEST(Liveness, WaitsForNoPongWhileThereIsNoRoomForThePing) {
  Liveness live;
  live.start(0, kInterval);
  for (int64_t i = 1; i < 10; ++i) {
    EXPECT_EQ(live.judge(i * kInterval), Verdict::ping);
    EXPECT_EQ(live.wait_ns(i * kInterval), 0);
  }
  live.on_ping(10 * kInterval, kInterval);
  EXPECT_EQ(live.judge(kInterval * 23 / 2 - 1), Verdict::ping);
  EXPECT_EQ(live.judge(kInterval * 23 / 2), Verdict::dead);
}

TEST(Liveness, SaysHowLongNothingWillChange) {
  Liveness live;
  live.start(100, kInterval);
  EXPECT_EQ(live.wait_ns(100), kInterval);
  EXPECT_EQ(judge_and_ping(live, 100 + kInterval), Verdict::ping);
  EXPECT_EQ(live.wait_ns(100 + kInterval), kInterval);
  EXPECT_EQ(judge_and_ping(live, 100 + 2 * kInterval), Verdict::ping);
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
