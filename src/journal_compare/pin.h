// Keeps the calling thread on one CPU, so that committer and writers do not take turns on the same core.
#pragma once

#include "base/result.h"
#include "core/this_thread.h"

namespace taut::compare {

/// cpu < 0: leaves it where it is. Error: the CPU does not exist or is not allowed.
[[nodiscard]] inline Status pin(int cpu) {
  return cpu < 0 ? Status() : pin_this_thread(cpu);
}

}  // namespace taut::compare
