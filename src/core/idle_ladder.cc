#include "core/idle_ladder.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/spin_locks_held.h"
#include "core/spin_wait.h"

namespace taut {
namespace {

using StepKind = IdleStep::Kind;

constexpr uint32_t kRungs = kSpinRungs.size();

IdleStep pause(uint32_t rung) {
  return {.kind = StepKind::pause, .amount = kSpinRungs[rung]};
}

IdleStep dotnet_step(uint32_t call) {
  constexpr uint32_t kYieldsFrom = 10;
  constexpr uint32_t kSleepsFrom = 20;
  if (call >= kSleepsFrom) return {.kind = StepKind::sleep, .amount = 1'000'000};
  if (call >= kYieldsFrom && (call - kYieldsFrom) % 2 == 0) return {.kind = StepKind::yield};
  return pause(std::min(call, kRungs - 1));
}

IdleStep backoff_step(uint32_t call) {
  constexpr uint32_t kYields = 5;
  constexpr int64_t kSleepNsFirst = 1'000;
  constexpr uint32_t kDoublings = 10;
  if (call < kRungs) return pause(call);
  if (call < kRungs + kYields) return {.kind = StepKind::yield};
  const uint32_t doublings = std::min(call - kRungs - kYields, kDoublings);
  return {.kind = StepKind::sleep, .amount = std::min(kSleepNsFirst << doublings, IdleLadder::kSleepNsMax)};
}

}  // namespace

IdleStep IdleLadder::next() noexcept {
  const uint32_t call = step_;
  if (step_ != UINT32_MAX) ++step_;
  switch (strategy_) {
    case WaitOptions::Strategy::yield:
      return call < kRungs ? pause(call) : IdleStep{.kind = StepKind::yield};
    case WaitOptions::Strategy::dotnet:
      return dotnet_step(call);
    case WaitOptions::Strategy::backoff:
      return backoff_step(call);
    case WaitOptions::Strategy::adaptive:
    case WaitOptions::Strategy::park:
    case WaitOptions::Strategy::busy:
    case WaitOptions::Strategy::spin_park:
      return pause(call % kRungs);
  }
  TAUT_UNREACHABLE("a wait strategy that is none");
}

void take(const IdleStep& step) noexcept {
  if (step.kind == StepKind::pause) return spin_pause(static_cast<uint32_t>(step.amount));
  assert_no_spin_lock_held();
  if (step.kind == StepKind::yield) {
    sched_yield();
  } else {
    std::this_thread::sleep_for(std::chrono::nanoseconds(step.amount));
  }
}

}  // namespace taut
