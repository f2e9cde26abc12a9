#include "base/clock.h"

#include <ctime>

namespace taut {

namespace {

timespec read_clock(clockid_t id) noexcept {
  timespec t{};
  clock_gettime(id, &t);
  return t;
}

}  // namespace

int64_t SystemClock::mono_ns() noexcept {
  const timespec t = read_clock(CLOCK_MONOTONIC);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

int64_t SystemClock::wall_ms() noexcept {
  const timespec t = read_clock(CLOCK_REALTIME);
  return t.tv_sec * 1'000LL + t.tv_nsec / 1'000'000;
}

}  // namespace taut
