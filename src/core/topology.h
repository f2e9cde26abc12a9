// How many processors this process may really use, and which.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace taut {

/// One logical processor that our affinity allows.
struct CpuPlace {
  int cpu = 0;            ///< the kernel's number
  int core = 0;           ///< physical core within the package; siblings share it
  int package = 0;        ///< socket
  bool isolated = false;  ///< the kernel puts nobody there who does not ask for it (isolcpus, nohz_full)
};

/// Read once at start. A value.
struct Topology {
  std::vector<CpuPlace> cpus;  ///< allowed by affinity, ascending; never empty
  double quota_cpus = 0;       ///< cgroup limit in processors, the tightest on the way up; 0: none
  uint32_t numa_nodes = 1;     ///< of the host

  /// min(affinity, quota rounded down), at least 1.
  [[nodiscard]] uint32_t usable_cores() const;
  /// One cpu per physical core (the lowest sibling), ascending.
  [[nodiscard]] std::vector<int> physical_cores() const;
  /// What to do with the other hardware threads of a core on which a shard runs: what runs there shares the
  /// core's units and first-level cache, just when the shard needs them.
  enum class Siblings : uint8_t { left_idle, used };
  /// Where to put `count` shards: physical cores first, then their siblings if these are used; fewer than
  /// count when there are no more.
  [[nodiscard]] std::vector<int> placement(uint32_t count, Siblings siblings = Siblings::used) const;
  /// False for a cpu that is not ours.
  [[nodiscard]] bool isolated(int cpu) const;

  /// `root` is put before every path and `allowed` replaces sched_getaffinity when not empty; both for tests.
  /// Missing files mean no siblings and no quota.
  [[nodiscard]] static Topology read(const std::string& root = {}, std::vector<int> allowed = {});
};

namespace internal {
/// "0-2,5" as the kernel writes it; what does not parse ends the list.
[[nodiscard]] std::vector<int> parse_cpu_list(std::string_view text);
}  // namespace internal

}  // namespace taut
