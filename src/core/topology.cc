#include "core/topology.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "core/cgroup.h"

namespace taut {
namespace {

std::vector<int> affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return {0};
  std::vector<int> cpus;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

int number_in(const std::string& path, int otherwise) {
  const auto text = read_kernel_file(path);
  if (!text) return otherwise;
  int value = 0;
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), value);
  return parsed.ec == std::errc{} ? value : otherwise;
}

std::vector<int> list_in(const std::string& path) {
  return internal::parse_cpu_list(read_kernel_file(path).value_or(""));
}

}  // namespace

std::vector<int> internal::parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    int first = 0;
    auto parsed = std::from_chars(at, end, first);
    if (parsed.ec != std::errc{}) break;
    int last = first;
    if (parsed.ptr != end && *parsed.ptr == '-') parsed = std::from_chars(parsed.ptr + 1, end, last);
    if (parsed.ec != std::errc{} || first < 0 || last >= CPU_SETSIZE) break;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    at = parsed.ptr;
    if (at == end || *at != ',') break;
    ++at;
  }
  return cpus;
}

Topology Topology::read(const std::string& root, std::vector<int> allowed) {
  Topology topology;
  if (allowed.empty()) allowed = affinity();
  std::ranges::sort(allowed);
  const std::string host = root + "/sys/devices/system/";
  std::vector<int> isolated = list_in(host + "cpu/isolated");
  std::ranges::copy(list_in(host + "cpu/nohz_full"), std::back_inserter(isolated));
  for (const int cpu : allowed) {
    const std::string folder = host + "cpu/cpu" + std::to_string(cpu) + "/topology/";
    topology.cpus.push_back({.cpu = cpu,
                             .core = number_in(folder + "core_id", cpu),
                             .package = number_in(folder + "physical_package_id", 0),
                             .isolated = std::ranges::find(isolated, cpu) != isolated.end()});
  }
  topology.quota_cpus = cpu_quota(find_cpu_cgroup(root)).value_or(0);
  topology.numa_nodes = std::max<uint32_t>(static_cast<uint32_t>(list_in(host + "node/online").size()), 1);
  return topology;
}

uint32_t Topology::usable_cores() const {
  const auto by_affinity = static_cast<uint32_t>(cpus.size());
  // Rounded down: whoever spins on a fraction of a processor is throttled for it.
  const bool limited = quota_cpus > 0 && quota_cpus < by_affinity;
  return std::max(limited ? static_cast<uint32_t>(quota_cpus) : by_affinity, 1U);
}

std::vector<int> Topology::physical_cores() const {
  std::set<std::pair<int, int>> seen;
  std::vector<int> first_siblings;
  for (const CpuPlace& place : cpus) {
    if (seen.insert({place.package, place.core}).second) first_siblings.push_back(place.cpu);
  }
  return first_siblings;
}

std::vector<int> Topology::placement(uint32_t count, Siblings siblings) const {
  std::vector<int> order = physical_cores();
  if (siblings == Siblings::used) {
    for (const CpuPlace& place : cpus) {
      if (std::ranges::find(order, place.cpu) == order.end()) order.push_back(place.cpu);
    }
  }
  if (order.size() > count) order.resize(count);
  return order;
}

bool Topology::isolated(int cpu) const {
  const auto place = std::ranges::find(cpus, cpu, &CpuPlace::cpu);
  return place != cpus.end() && place->isolated;
}

}  // namespace taut
