#include "core/thread_setup.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/this_thread.h"

namespace taut {
namespace {

using Scheduling = ThreadSetup::Scheduling;

bool schedule_this_thread(Scheduling scheduling, uint32_t priority) {
  sched_param parameter{};
  parameter.sched_priority = static_cast<int>(priority);
  return sched_setscheduler(0, scheduling == Scheduling::fifo ? SCHED_FIFO : SCHED_RR, &parameter) == 0;
}

/// Without libnuma: the one call that we need of it. MPOL_LOCAL is "the node that the thread runs on".
bool take_memory_of_own_node() {
  return syscall(SYS_set_mempolicy, MPOL_LOCAL, nullptr, 0UL) == 0;
}

}  // namespace

bool scheduling_harms(const ThreadSetup& setup, WaitOptions::Strategy strategy) {
  return setup.scheduling != Scheduling::other && strategy != WaitOptions::Strategy::park && !setup.isolated;
}

void set_up_this_thread(const ThreadSetup& setup, WaitOptions::Strategy strategy, LogRing& log) {
  if (setup.pin_to_cpu >= 0) {
    const Status pinned = pin_this_thread(setup.pin_to_cpu);
    if (!pinned) log.warn("shard {}: {}; see taskset -p", log.source(), pinned.error().message);
  }
  if (setup.local_memory && !take_memory_of_own_node()) {
    log.warn("shard {}: cannot ask for memory of its own NUMA node: {}; messages may lie on another",
             log.source(), std::strerror(errno));
  }
  if (setup.scheduling == Scheduling::other) return;
  const std::string_view name = ThreadSetup::kSchedulingNames[static_cast<size_t>(setup.scheduling)];
  if (scheduling_harms(setup, strategy)) {
    log.warn(
        "shard {}: goes on as other: spinning as {} on a core that is not isolated, the kernel would stop it "
        "for 50 ms of every second; --wait park, or isolcpus={}",
        log.source(), name, setup.pin_to_cpu);
  } else if (!schedule_this_thread(setup.scheduling, setup.priority)) {
    log.warn(
        "shard {}: goes on as other, and other threads may take its core for their time slices: cannot run "
        "as "
        "{} with priority {}: {}; it needs CAP_SYS_NICE or ulimit -r",
        log.source(), name, setup.priority, std::strerror(errno));
  }
}

}  // namespace taut
