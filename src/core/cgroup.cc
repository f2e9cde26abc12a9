#include "core/cgroup.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <ranges>

#include "base/spin_locks_held.h"

namespace taut {
namespace {

constexpr size_t kKernelFileBytesMax = size_t{64} * 1024;

/// "hierarchy:controllers:path" of /proc/self/cgroup.
struct Line {
  std::string_view controllers;
  std::string_view path;
};

std::optional<Line> parse_line(std::string_view text) {
  const size_t first = text.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = text.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  return Line{text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

bool names_cpu(std::string_view controllers) {
  return std::ranges::any_of(controllers | std::views::split(','),
                             [](auto name) { return std::string_view(name) == "cpu"; });
}

/// `mount` + `path` and every folder above it down to `mount`, as far as they hold `file`. In a container the
/// path may name folders of the host that are not there: then only the mount itself remains, which is what
/// limits us.
std::vector<std::string> existing_upwards(const std::string& mount, std::string_view path,
                                          std::string_view file) {
  std::vector<std::string> found;
  std::string below(path);
  while (true) {
    while (below.ends_with('/')) below.pop_back();
    std::error_code ignored;
    const std::string folder = mount + below;
    if (std::filesystem::exists(folder + "/" + std::string(file), ignored)) found.push_back(folder);
    if (below.empty()) return found;
    below.resize(below.rfind('/') == std::string::npos ? 0 : below.rfind('/'));
  }
}

std::optional<double> quota_of_pair(std::string_view quota, std::string_view period) {
  double quota_us = 0;
  double period_us = 0;
  if (std::from_chars(quota.data(), quota.data() + quota.size(), quota_us).ec != std::errc{})
    return std::nullopt;
  if (std::from_chars(period.data(), period.data() + period.size(), period_us).ec != std::errc{}) {
    return std::nullopt;
  }
  if (quota_us <= 0 || period_us <= 0) return std::nullopt;
  return quota_us / period_us;
}

std::optional<double> quota_of(const std::string& folder, bool unified) {
  if (unified) {
    const auto text = read_kernel_file(folder + "/cpu.max");  // "max 100000" or "150000 100000"
    if (!text) return std::nullopt;
    const size_t space = text->find(' ');
    if (space == std::string::npos) return std::nullopt;
    return quota_of_pair(std::string_view(*text).substr(0, space), std::string_view(*text).substr(space + 1));
  }
  const auto quota = read_kernel_file(folder + "/cpu.cfs_quota_us");  // -1: none
  const auto period = read_kernel_file(folder + "/cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  return quota_of_pair(*quota, *period);
}

}  // namespace

std::optional<std::string> read_kernel_file(const std::string& path) {
  assert_no_spin_lock_held();
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(kKernelFileBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return std::nullopt;
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

CpuCgroup find_cpu_cgroup(const std::string& root) {
  const auto text = read_kernel_file(root + "/proc/self/cgroup");
  if (!text) return {};
  const std::string mounts = root + "/sys/fs/cgroup";
  CpuCgroup unified{.unified = true, .paths = {}};
  for (const auto part : *text | std::views::split('\n')) {
    const auto line = parse_line(std::string_view(part));
    if (!line) continue;
    if (names_cpu(line->controllers)) {
      for (const std::string_view name : {line->controllers, std::string_view("cpu")}) {
        auto paths = existing_upwards(mounts + "/" + std::string(name), line->path, "cpu.cfs_quota_us");
        if (!paths.empty()) return {.unified = false, .paths = std::move(paths)};
      }
    } else if (line->controllers.empty()) {
      unified.paths = existing_upwards(mounts, line->path, "cpu.stat");
    }
  }
  return unified;
}

std::optional<double> cpu_quota(const CpuCgroup& cgroup) {
  std::optional<double> tightest;
  for (const std::string& path : cgroup.paths) {
    const auto quota = quota_of(path, cgroup.unified);
    if (quota && (!tightest || *quota < *tightest)) tightest = quota;
  }
  return tightest;
}

}  // namespace taut
