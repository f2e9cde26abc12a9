// Keeps the calling thread on one CPU, so that client and server do not take turns on the same core.
#pragma once

#include <sched.h>

#include <string>

#include "base/result.h"

namespace taut::load {

/// cpu < 0: leaves it where it is. Error: the CPU does not exist or is not allowed.
[[nodiscard]] inline Status pin_this_thread(int cpu) {
  if (cpu < 0) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) return fail_errno("pin to CPU " + std::to_string(cpu));
  return {};
}

}  // namespace taut::load
