// How many processors this process may really use, and which.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace taut {

/// One logical processor that our affinity allows.
struct CpuPlace {
  int cpu = 0;      ///< the kernel's number
  int core = 0;     ///< physical core within the package; siblings share it
  int package = 0;  ///< socket
};

/// Read once at start. A value.
struct Topology {
  std::vector<CpuPlace> cpus;  ///< allowed by affinity, ascending; never empty
  double quota_cpus = 0;       ///< cgroup limit in processors, the tightest on the way up; 0: none

  /// min(affinity, quota rounded down), at least 1.
  [[nodiscard]] uint32_t usable_cores() const;
  /// One cpu per physical core (the lowest sibling), ascending.
  [[nodiscard]] std::vector<int> physical_cores() const;
  /// Where to put `count` shards: physical cores first, then their siblings; fewer than count when there are
  /// no more.
  [[nodiscard]] std::vector<int> placement(uint32_t count) const;

  /// `root` is put before every path and `allowed` replaces sched_getaffinity when not empty; both for tests.
  /// Missing files mean no siblings and no quota.
  [[nodiscard]] static Topology read(const std::string& root = {}, std::vector<int> allowed = {});
};

}  // namespace taut
