// What timers cost a turn: arming, putting off, asking for the next, expiring.
#include "core/timer_wheel.h"

#include <benchmark/benchmark.h>

#include <deque>

namespace taut {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

/// `count` idle timers spread over 25 s, as that many connections have. The wheel dies first and disarms
/// them.
struct IdleTimers {
  explicit IdleTimers(int64_t count) : timers(static_cast<size_t>(count)) {
    int64_t i = 0;
    for (Timer& timer : timers) wheel.arm(timer, kSecond + 25 * kSecond * ++i / count);
  }
  std::deque<Timer> timers;
  TimerWheel wheel{kSecond};
};

void arm_and_cancel(benchmark::State& state) {
  Timer timer;
  TimerWheel wheel(kSecond);
  for (auto _ : state) {
    wheel.arm(timer, 3 * kSecond);
    wheel.cancel(timer);
  }
}
BENCHMARK(arm_and_cancel);

void postpone(benchmark::State& state) {
  Timer timer;
  TimerWheel wheel(kSecond);
  int64_t deadline = 26 * kSecond;
  for (auto _ : state) wheel.postpone(timer, ++deadline);
}
BENCHMARK(postpone);

void next_deadline(benchmark::State& state) {
  IdleTimers idle(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(idle.wheel.next_deadline_ns());
}
BENCHMARK(next_deadline)->Arg(1)->Arg(10'000);

/// A turn every 20 us; each timer that fires is armed again.
void turn(benchmark::State& state) {
  IdleTimers idle(state.range(0));
  int64_t now = kSecond;
  for (auto _ : state) {
    now += 20'000;
    benchmark::DoNotOptimize(
        idle.wheel.expire(now, [&](Timer& t) { idle.wheel.arm(t, now + 25 * kSecond); }));
  }
}
BENCHMARK(turn)->Arg(1)->Arg(10'000);

}  // namespace
}  // namespace taut
