#include "core/spin_wait.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/cycle_clock.h"

namespace taut {
namespace {

TEST(SpinWait, AnnouncesTheYieldExactlyBeforeTheFirst) {
  SpinWait wait;
  for (size_t rung = 0; rung < kSpinRungs.size(); ++rung) {
    EXPECT_FALSE(wait.next_will_yield()) << "before rung " << rung;
    wait.spin_once();
  }
  EXPECT_TRUE(wait.next_will_yield());
}

TEST(SpinWait, StartsAgainByAssignment) {
  SpinWait wait;
  for (int i = 0; i < 10; ++i) wait.spin_once();
  wait = SpinWait{};
  EXPECT_EQ(wait.count(), 0U);
  EXPECT_FALSE(wait.next_will_yield());
}

TEST(SpinWait, SleepsOnlyFromTheCallThatWasAsked) {
  constexpr uint32_t kSleepAfter = 2;
  const CycleClock& clock = CycleClock::machine();
  SpinWait wait;
  for (uint32_t i = 0; i < kSleepAfter; ++i) wait.spin_once(kSleepAfter);
  const int64_t start_ns = clock.now_ns();
  wait.spin_once(kSleepAfter);
  EXPECT_GE(clock.now_ns() - start_ns, SpinWait::kSleepNs * 99 / 100);  // a sleep is never too short
}

TEST(SpinWait, LongerRungsPauseLonger) {
  const CycleClock& clock = CycleClock::machine();
  int64_t best_short_ns = INT64_MAX;
  int64_t best_long_ns = INT64_MAX;
  for (int attempt = 0; attempt < 50; ++attempt) {
    const int64_t start_ns = clock.now_ns();
    spin_pause(10);
    const int64_t middle_ns = clock.now_ns();
    spin_pause(1'000);
    best_short_ns = std::min(best_short_ns, middle_ns - start_ns);
    best_long_ns = std::min(best_long_ns, clock.now_ns() - middle_ns);
  }
  EXPECT_GT(best_long_ns, best_short_ns);
  EXPECT_GE(pauses_per_unit(), 1U);
}

TEST(CycleClock, AgreesWithTheKernelAboutASleep) {
  const CycleClock& cycles = CycleClock::machine();
  const CycleClock kernel = CycleClock::without_counter();
  const int64_t cycles_start_ns = cycles.now_ns();
  const int64_t kernel_start_ns = kernel.now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const int64_t kernel_ns = kernel.now_ns() - kernel_start_ns;
  const int64_t cycles_ns = cycles.now_ns() - cycles_start_ns;
  // The cycle interval encloses the kernel's; a preemption between the readings only widens it.
  EXPECT_GE(cycles_ns, kernel_ns * 99 / 100);
}

TEST(CycleClock, NeverGoesBack) {
  const CycleClock& clock = CycleClock::machine();
  int64_t last_ns = clock.now_ns();
  for (int i = 0; i < 100'000; ++i) {
    const int64_t now_ns = clock.now_ns();
    ASSERT_GE(now_ns, last_ns);
    last_ns = now_ns;
  }
}

}  // namespace
}  // namespace taut
