// What a thread may ask of the kernel for itself: a processor, a name, exact timers.
#pragma once

#include <string>

#include "base/result.h"

namespace taut {

/// Runs the calling thread on one processor only. Error: not allowed, or no such processor; the thread stays
/// free.
[[nodiscard]] Status pin_this_thread(int cpu);
/// The name that top, perf and gdb show; cut to 15 bytes.
void name_this_thread(const std::string& name);
/// The calling thread gets what all others leave of the processors, and no more: whoever wakes runs before
/// it. Where that is not allowed nothing changes.
void run_when_idle();
/// The calling thread keeps its share of the processors, but takes none from whoever runs when it wakes; it
/// waits for a pause, or for its turn. Where that is not allowed nothing changes.
void preempt_nobody();
/// Timers of the calling thread fire within 1 ns of slack instead of 50 µs.
void set_exact_timers();

}  // namespace taut
