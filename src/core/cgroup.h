// Where the cgroups that limit our processor time keep their files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taut {

/// The cpu controller's directories from our own cgroup up to the root, for either version.
struct CpuCgroup {
  bool unified = false;            ///< version 2: cpu.max; else cpu.cfs_quota_us and cpu.cfs_period_us
  std::vector<std::string> paths;  ///< only those that exist, ours first
};

/// From /proc/self/cgroup below `root`. No cgroups: no paths.
[[nodiscard]] CpuCgroup find_cpu_cgroup(const std::string& root);
/// The tightest limit on the way up, in processors; nullopt: none.
[[nodiscard]] std::optional<double> cpu_quota(const CpuCgroup& cgroup);

/// The whole file, or nothing. Files of /proc and /sys only (at most 64 KiB).
[[nodiscard]] std::optional<std::string> read_kernel_file(const std::string& path);

}  // namespace taut
