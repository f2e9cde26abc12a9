#include "core/spin_wait.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/spin_locks_held.h"

namespace taut {
namespace {

inline void pause_once() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");
#endif
}

uint32_t measure_pauses_per_unit() noexcept {
  using std::chrono::steady_clock;
  constexpr uint32_t kTries = 5;
  constexpr int64_t kPauses = 100;
  int64_t best_ns = INT64_MAX;  // the least disturbed try
  for (uint32_t attempt = 0; attempt < kTries; ++attempt) {
    const auto start = steady_clock::now();
    for (int64_t i = 0; i < kPauses; ++i) pause_once();
    const auto took = std::chrono::nanoseconds(steady_clock::now() - start).count();
    best_ns = std::min<int64_t>(best_ns, took);
  }
  const int64_t pauses = kSpinUnitNs * kPauses / std::max<int64_t>(best_ns, 1);
  return static_cast<uint32_t>(std::clamp<int64_t>(pauses, 1, kSpinUnitNs));
}

}  // namespace

uint32_t pauses_per_unit() noexcept {
  static const uint32_t kPauses = measure_pauses_per_unit();
  return kPauses;
}

void spin_pause(uint32_t units) noexcept {
  const uint32_t pauses = units * pauses_per_unit();
  for (uint32_t i = 0; i < pauses; ++i) pause_once();
}

void SpinWait::spin_once(uint32_t sleep_after) noexcept {
  assert_no_spin_lock_held();
  const uint32_t call = count_;
  if (count_ != UINT32_MAX) ++count_;
  if (call >= sleep_after) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(kSleepNs));
  } else if (call < kSpinRungs.size()) {
    spin_pause(kSpinRungs[call]);
  } else {
    sched_yield();
  }
}

}  // namespace taut
