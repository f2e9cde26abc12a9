// What a process has cost the machine so far: CPU time and context switches, over all of its threads.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace taut::load {

/// Totals since the start of each thread that is alive now; subtract two readings of the same process. A
/// thread that ends between two readings takes its part along: measure processes whose threads live for the
/// whole run.
struct ProcStats {
  int64_t cpu_ns = 0;
  int64_t voluntary = 0;    ///< switches because a thread waited
  int64_t involuntary = 0;  ///< switches because the kernel preferred another

  friend ProcStats operator-(const ProcStats& later, const ProcStats& earlier) {
    return {.cpu_ns = later.cpu_ns - earlier.cpu_ns,
            .voluntary = later.voluntary - earlier.voluntary,
            .involuntary = later.involuntary - earlier.involuntary};
  }
};

/// Reads /proc/PID/task/*/{schedstat,status}; some 20 µs a thread. Error: no such process.
[[nodiscard]] Result<ProcStats> read_proc_stats(int pid);

/// CPU time of the calling thread, ns.
[[nodiscard]] int64_t thread_cpu_ns();

}  // namespace taut::load
