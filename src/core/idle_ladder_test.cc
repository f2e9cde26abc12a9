#include "core/idle_ladder.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/spin_wait.h"

namespace taut {
namespace {

using LadderStrategy = WaitOptions::Strategy;
using LadderKind = IdleStep::Kind;

constexpr IdleStep pause(int64_t units) {
  return {.kind = LadderKind::pause, .amount = units};
}
constexpr IdleStep kYield{.kind = LadderKind::yield};
constexpr IdleStep sleep_us(int64_t us) {
  return {.kind = LadderKind::sleep, .amount = us * 1'000};
}

std::vector<IdleStep> first_steps(LadderStrategy strategy, size_t count) {
  IdleLadder ladder(strategy);
  std::vector<IdleStep> steps;
  steps.reserve(count);
  for (size_t i = 0; i < count; ++i) steps.push_back(ladder.next());
  return steps;
}

TEST(IdleLadder, OurOwnStrategiesOnlyPauseRungByRung) {
  for (const LadderStrategy strategy :
       {LadderStrategy::adaptive, LadderStrategy::park, LadderStrategy::busy, LadderStrategy::spin_park}) {
    EXPECT_EQ(first_steps(strategy, 6),
              (std::vector<IdleStep>{pause(1), pause(2), pause(4), pause(7), pause(1), pause(2)}));
  }
}

TEST(IdleLadder, YieldYieldsAfterTheFirstFourRungs) {
  EXPECT_EQ(first_steps(LadderStrategy::yield, 7),
            (std::vector<IdleStep>{pause(1), pause(2), pause(4), pause(7), kYield, kYield, kYield}));
}

TEST(IdleLadder, DotnetDoesWhatItsRuntimeDoes) {
  EXPECT_EQ(
      first_steps(LadderStrategy::dotnet, 23),
      (std::vector<IdleStep>{pause(1), pause(2), pause(4),        pause(7),        pause(7),       pause(7),
                             pause(7), pause(7), pause(7),        pause(7),        kYield,         pause(7),
                             kYield,   pause(7), kYield,          pause(7),        kYield,         pause(7),
                             kYield,   pause(7), sleep_us(1'000), sleep_us(1'000), sleep_us(1'000)}));
}

TEST(IdleLadder, DotnetSpinsForThreeMicrosecondsAndAHalfBeforeItsFirstSleep) {
  int64_t units = 0;
  for (const IdleStep& step : first_steps(LadderStrategy::dotnet, 20)) units += step.amount;
  EXPECT_EQ(units, 91);
  EXPECT_EQ(units * kSpinUnitNs, 3'640);
}

TEST(IdleLadder, BackoffDoublesItsSleepsUpToAMillisecond) {
  const std::vector<IdleStep> steps = first_steps(LadderStrategy::backoff, 22);
  EXPECT_EQ(steps[3], pause(7));
  for (size_t i = 4; i < 9; ++i) EXPECT_EQ(steps[i], kYield);
  for (size_t i = 9; i < 19; ++i) EXPECT_EQ(steps[i], sleep_us(1LL << (i - 9)));
  for (size_t i = 19; i < 22; ++i) EXPECT_EQ(steps[i], sleep_us(1'000));
}

TEST(IdleLadder, NoStrategySleepsLongerThanAMillisecond) {
  for (size_t i = 0; i < WaitOptions::kNames.size(); ++i) {
    for (const IdleStep& step : first_steps(static_cast<LadderStrategy>(i), 100)) {
      EXPECT_TRUE(step.kind != LadderKind::sleep || step.amount <= IdleLadder::kSleepNsMax)
          << WaitOptions::kNames[i];
    }
  }
}

TEST(IdleLadder, StartsAgainAfterWork) {
  IdleLadder ladder(LadderStrategy::dotnet);
  for (int i = 0; i < 30; ++i) static_cast<void>(ladder.next());
  ladder.restart();
  EXPECT_EQ(ladder.next(), pause(1));
}

}  // namespace
}  // namespace taut
