#include "core/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace taut {
namespace {

constexpr int64_t kStart = 987'654'321'987;
constexpr int64_t kTickNs = int64_t{1} << TimerWheel::kTickShift;
constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1'000 * kMs;

/// How late a timer may be that is armed for `timeout_ns` from the last expire().
int64_t late_max(int64_t timeout_ns) {
  return std::max(2 * kTickNs, timeout_ns / 31 + 2 * kTickNs);
}

/// Runs the wheel as a shard does, waking exactly when it asks for it, and returns when the timer fired.
int64_t time_of_firing(TimerWheel& wheel, const Timer& timer) {
  while (timer.armed()) {
    const int64_t now = wheel.next_deadline_ns();
    wheel.expire(now, [](Timer&) {});
    if (!timer.armed()) return now;
  }
  return -1;
}

TEST(TimerWheel, IsNeverEarlyAndLateByAThirtiethAtMostForEveryTimeoutUpToADay) {
  for (int64_t timeout = 1; timeout < 86'400 * kSecond; timeout += timeout / 7 + 1) {
    TimerWheel wheel(kStart);
    Timer timer;
    wheel.arm(timer, kStart + timeout);
    const int64_t late = time_of_firing(wheel, timer) - (kStart + timeout);
    EXPECT_GE(late, 0) << timeout;
    EXPECT_LE(late, late_max(timeout)) << timeout;
  }
}

TEST(TimerWheel, FiresAtTheBoundariesOfEveryLevelFromEveryOffset) {
  for (uint32_t level = 0; level < TimerWheel::kLevels; ++level) {
    const int64_t granule = kTickNs << (level * TimerWheel::kLevelShift);
    for (const int64_t offset : {int64_t{0}, int64_t{1}, granule - 1, granule / 2}) {
      for (int64_t slots = 253; slots <= 257; ++slots) {
        const int64_t now = granule * 1000 + offset;
        TimerWheel wheel(now);
        Timer timer;
        wheel.arm(timer, now + slots * granule);
        const int64_t late = time_of_firing(wheel, timer) - (now + slots * granule);
        EXPECT_GE(late, 0);
        EXPECT_LE(late, late_max(slots * granule)) << "level " << level << " slots " << slots;
      }
    }
  }
}

TEST(TimerWheel, NeedsOneWakeForATimerWithinItsReach) {
  for (int64_t timeout = 1; timeout < 7200 * kSecond; timeout += timeout / 500 + 1) {
    TimerWheel wheel(kStart);
    Timer timer;
    wheel.arm(timer, kStart + timeout);
    ASSERT_EQ(wheel.expire(wheel.next_deadline_ns(), [](Timer&) {}), 1u) << timeout;
  }
}

TEST(TimerWheel, SaysNeverWhenNothingIsArmed) {
  TimerWheel wheel(kStart);
  EXPECT_EQ(wheel.next_deadline_ns(), TimerWheel::kNever);
  Timer a;
  Timer b;
  wheel.arm(a, kStart + kSecond);
  wheel.arm(b, kStart + kSecond);
  wheel.cancel(a);
  EXPECT_NE(wheel.next_deadline_ns(), TimerWheel::kNever);
  wheel.cancel(b);
  wheel.cancel(b);
  EXPECT_EQ(wheel.next_deadline_ns(), TimerWheel::kNever);
}

TEST(TimerWheel, FiresAPastDeadlineAtTheNextTick) {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.arm(timer, kStart - kSecond);
  EXPECT_LE(wheel.next_deadline_ns(), kStart + kTickNs);
  EXPECT_EQ(wheel.expire(kStart + kTickNs, [](Timer&) {}), 1u);
}

TEST(TimerWheel, NeverFiresTheFarthestDeadlineThereIs) {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.arm(timer, TimerWheel::kNever);
  EXPECT_EQ(wheel.expire(kStart + 86'400 * kSecond, [](Timer&) {}), 0u);
  EXPECT_TRUE(timer.armed());
  wheel.cancel(timer);
}

TEST(TimerWheel, FiresTimersOfOneSlotInTheOrderOfArming) {
  TimerWheel wheel(kStart);
  std::array<Timer, 5> timers;
  for (uint32_t i = 0; i < timers.size(); ++i) {
    timers[i].kind = i;
    wheel.arm(timers[i], kStart + kMs);
  }
  std::vector<uint32_t> order;
  wheel.expire(kStart + 2 * kMs, [&](Timer& t) { order.push_back(t.kind); });
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 1, 2, 3, 4}));
}

TEST(TimerWheel, FiresSlotsOfOneLevelInTheOrderOfDeadlinesAfterALongSleep) {
  TimerWheel wheel(kStart);
  std::array<Timer, 10> timers;
  for (uint32_t i = 0; i < timers.size(); ++i) wheel.arm(timers[i], kStart + (10 - i) * 300'000);
  std::vector<int64_t> order;
  wheel.expire(kStart + 3600 * kSecond, [&](Timer& t) { order.push_back(t.deadline_ns()); });
  EXPECT_EQ(order.size(), timers.size());
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(TimerWheel, LetsTheCallbackArmTheSameTimerAgainWithoutLooping) {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.arm(timer, kStart + kMs);
  const auto again = [&](Timer& t) { wheel.arm(t, kStart); };
  EXPECT_EQ(wheel.expire(kStart + 2 * kMs, again), 1u);
  EXPECT_TRUE(timer.armed());
  EXPECT_EQ(wheel.expire(kStart + 3 * kMs, again), 1u);
  wheel.cancel(timer);
}

TEST(TimerWheel, LetsTheCallbackCancelTimersThatAreDueInTheSameCall) {
  TimerWheel wheel(kStart);
  std::array<Timer, 3> timers;
  for (Timer& t : timers) wheel.arm(t, kStart + kMs);
  uint32_t fired = 0;
  wheel.expire(kStart + 2 * kMs, [&](Timer&) {
    ++fired;
    for (Timer& t : timers) wheel.cancel(t);
  });
  EXPECT_EQ(fired, 1u);
  EXPECT_EQ(wheel.next_deadline_ns(), TimerWheel::kNever);
}

TEST(TimerWheel, LetsTheCallbackDestroyItsTimer) {
  TimerWheel wheel(kStart);
  auto timer = std::make_unique<Timer>();
  wheel.arm(*timer, kStart + kMs);
  wheel.expire(kStart + 2 * kMs, [&](Timer&) { timer.reset(); });
  EXPECT_EQ(timer, nullptr);
}

TEST(TimerWheel, PostponeMovesNothingUntilTheOldSlotFires) {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.arm(timer, kStart + kSecond);
  const int64_t old = wheel.next_deadline_ns();
  wheel.postpone(timer, kStart + 5 * kSecond);
  EXPECT_EQ(wheel.next_deadline_ns(), old);
  EXPECT_EQ(wheel.expire(old, [](Timer&) {}), 0u);
  EXPECT_GE(wheel.next_deadline_ns(), kStart + 5 * kSecond);
  EXPECT_GE(time_of_firing(wheel, timer), kStart + 5 * kSecond);
}

TEST(TimerWheel, PostponeToAnEarlierDeadlineArms) {
  TimerWheel wheel(kStart);
  Timer timer;
  wheel.postpone(timer, kStart + kSecond);
  wheel.postpone(timer, kStart + kMs);
  EXPECT_LE(time_of_firing(wheel, timer), kStart + kMs + late_max(kMs));
}

TEST(TimerWheel, DisarmsWhatItLeavesBehind) {
  Timer timer;
  {
    TimerWheel wheel(kStart);
    wheel.arm(timer, kStart + kSecond);
  }
  EXPECT_FALSE(timer.armed());
}

TEST(TimerWheelDeathTest, ATimerMustNotDieArmed) {
  TimerWheel wheel(kStart);
  EXPECT_DEATH(
      {
        Timer timer;
        wheel.arm(timer, kStart + kSecond);
      },
      "armed");
}

/// Wheel against a list that is searched: random operations, also from inside the callback.
class Model {
 public:
  explicit Model(uint64_t seed) : random_(seed), wheel_(kStart) {
    for (uint32_t i = 0; i < kTimers; ++i) timers_[i].kind = i;
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) step();
    for (Timer& timer : timers_) wheel_.cancel(timer);
    EXPECT_EQ(wheel_.next_deadline_ns(), TimerWheel::kNever);
  }

 private:
  static constexpr uint32_t kTimers = 200;

  struct Expected {
    bool armed = false;
    int64_t deadline = 0;
    int64_t latest = 0;  ///< by then it must have fired
  };

  uint64_t pick(uint64_t n) { return random_() % n; }
  /// Log-uniform, so that all levels are met.
  int64_t duration() { return static_cast<int64_t>(random_() >> (20 + pick(42))); }

  void change_one() {
    const uint64_t i = pick(kTimers);
    Expected& e = expected_[i];
    const int64_t deadline = now_ + duration() - (pick(10) == 0 ? kSecond : 0);
    switch (pick(3)) {
      case 0:
        wheel_.cancel(timers_[i]);
        e.armed = false;
        break;
      case 1:
        wheel_.arm(timers_[i], deadline);
        e = {true, deadline, latest(deadline)};
        break;
      default:
        // A timer that was put off is inserted again when its old slot fires: late by the sum of both at
        // most.
        const bool put_off = e.armed && deadline >= e.deadline;
        wheel_.postpone(timers_[i], deadline);
        e = {true, deadline, put_off ? std::max(e.latest, latest(deadline)) : latest(deadline)};
    }
    ASSERT_EQ(timers_[i].armed(), e.armed);
  }

  int64_t latest(int64_t deadline) const {
    return std::max(deadline, now_) + late_max(std::max<int64_t>(deadline - now_, 0));
  }

  void fired(Timer& timer) {
    Expected& e = expected_[timer.kind];
    EXPECT_TRUE(e.armed) << "seed fires a cancelled timer";
    EXPECT_LE(e.deadline, now_) << "early";
    EXPECT_FALSE(timer.armed());
    e.armed = false;
    for (uint64_t n = pick(3); n > 0; --n) change_one();
  }

  void step() {
    for (uint64_t n = pick(8); n > 0; --n) change_one();
    const int64_t next = wheel_.next_deadline_ns();
    if (pick(2) == 0 && next != TimerWheel::kNever) {
      now_ = std::max(now_, next);
    } else {
      now_ += duration();
    }
    wheel_.expire(now_, [&](Timer& timer) { fired(timer); });
    int64_t soonest = TimerWheel::kNever;
    for (uint32_t i = 0; i < kTimers; ++i) {
      const Expected& e = expected_[i];
      ASSERT_EQ(timers_[i].armed(), e.armed) << i;
      if (!e.armed) continue;
      EXPECT_GT(e.latest, now_) << "timer " << i << " should have fired";
      soonest = std::min(soonest, e.latest);
    }
    EXPECT_LE(wheel_.next_deadline_ns(), soonest);
  }

  std::mt19937_64 random_;
  TimerWheel wheel_;
  int64_t now_ = kStart;
  std::array<Timer, kTimers> timers_;
  std::array<Expected, kTimers> expected_;
};

TEST(TimerWheel, AgreesWithANaiveModelUnderRandomOperations) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Model(seed).run(2'000);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace taut
