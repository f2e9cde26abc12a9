// What a shard's thread asks of the host before its first turn: a processor, a scheduling class, near memory.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/log_ring.h"
#include "core/wait_options.h"

namespace taut {

/// Wishes. What the host does not grant costs one line and nothing else.
struct ThreadSetup {
  /// As the kernel has them: `other` shares by weight, `fifo` and `rr` run before all of `other`.
  enum class Scheduling : uint8_t { other, fifo, rr };
  static constexpr std::array<std::string_view, 3> kSchedulingNames = {"other", "fifo", "rr"};
  static constexpr uint32_t kPriorityMax = 99;

  int pin_to_cpu = -1;    ///< -1: not pinned
  bool isolated = false;  ///< the kernel keeps others off that cpu (Topology)
  Scheduling scheduling = Scheduling::other;
  uint32_t priority = 1;      ///< 1 … kPriorityMax; fifo and rr only
  bool local_memory = false;  ///< of the node that the cpu belongs to, whatever the process's policy is
};

/// True where the class would do harm: a real-time thread that never sleeps is stopped by the kernel for 50
/// ms of every second (RT throttling), unless its core has nobody else to run.
[[nodiscard]] bool scheduling_harms(const ThreadSetup& setup, WaitOptions::Strategy strategy);

/// For the calling thread, before it touches its memory. Refusals go to `log`, one line each.
void set_up_this_thread(const ThreadSetup& setup, WaitOptions::Strategy strategy, LogRing& log);

}  // namespace taut
