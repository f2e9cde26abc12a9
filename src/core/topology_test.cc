#include "core/topology.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/cgroup.h"
#include "core/this_thread.h"

namespace taut {
namespace {

/// A folder that plays the host's root.
class Root {
 public:
  Root() {
    std::string pattern = (std::filesystem::temp_directory_path() / "taut-topology-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Root() { std::filesystem::remove_all(path_); }
  Root(const Root&) = delete;
  Root& operator=(const Root&) = delete;

  void file(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(path_ + name).parent_path());
    std::ofstream(path_ + name) << text;
  }
  void cpu(int cpu, int core, int package) {
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    file(folder + "core_id", std::to_string(core) + "\n");
    file(folder + "physical_package_id", std::to_string(package) + "\n");
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Topology, WithoutFilesEveryAllowedCpuIsACore) {
  const Root root;
  const Topology topology = Topology::read(root.path(), {3, 1});
  EXPECT_EQ(topology.usable_cores(), 2U);
  EXPECT_EQ(topology.physical_cores(), (std::vector<int>{1, 3}));
}

TEST(Topology, PlacesShardsOnPhysicalCoresBeforeSiblings) {
  Root root;
  root.cpu(0, 0, 0);
  root.cpu(1, 0, 0);
  root.cpu(2, 1, 0);
  root.cpu(3, 1, 0);
  const Topology topology = Topology::read(root.path(), {0, 1, 2, 3});
  EXPECT_EQ(topology.physical_cores(), (std::vector<int>{0, 2}));
  EXPECT_EQ(topology.placement(3), (std::vector<int>{0, 2, 1}));
  EXPECT_EQ(topology.placement(9).size(), 4U);
  EXPECT_EQ(topology.placement(9, Topology::Siblings::left_idle), (std::vector<int>{0, 2}));
  EXPECT_EQ(topology.placement(1, Topology::Siblings::left_idle), (std::vector<int>{0}));
}

TEST(Topology, KnowsWhichCpusAreIsolated) {
  Root root;
  EXPECT_FALSE(Topology::read(root.path(), {0}).isolated(0));
  root.file("/sys/devices/system/cpu/isolated", "1-2\n");
  root.file("/sys/devices/system/cpu/nohz_full", "4\n");
  const Topology topology = Topology::read(root.path(), {0, 1, 3, 4});
  EXPECT_FALSE(topology.isolated(0));
  EXPECT_TRUE(topology.isolated(1));
  EXPECT_FALSE(topology.isolated(2));  // not ours
  EXPECT_FALSE(topology.isolated(3));
  EXPECT_TRUE(topology.isolated(4));
  root.file("/sys/devices/system/cpu/isolated", "\n");
  root.file("/sys/devices/system/cpu/nohz_full", "(null)\n");
  EXPECT_FALSE(Topology::read(root.path(), {4}).isolated(4));
}

TEST(Topology, CountsTheHostsMemoryNodes) {
  Root root;
  EXPECT_EQ(Topology::read(root.path(), {0}).numa_nodes, 1U);
  root.file("/sys/devices/system/node/online", "0-1\n");
  EXPECT_EQ(Topology::read(root.path(), {0}).numa_nodes, 2U);
}

TEST(Topology, ReadsListsOfCpusAsFarAsTheyMakeSense) {
  using internal::parse_cpu_list;
  EXPECT_EQ(parse_cpu_list("0-2,5\n"), (std::vector<int>{0, 1, 2, 5}));
  EXPECT_EQ(parse_cpu_list("7"), (std::vector<int>{7}));
  for (const char* const nothing : {"", "\n", "(null)\n", "-1", "x", "0-99999999999", "3-", "-"}) {
    EXPECT_TRUE(parse_cpu_list(nothing).empty()) << nothing;
  }
  EXPECT_EQ(parse_cpu_list("4,x"), (std::vector<int>{4}));
  EXPECT_TRUE(parse_cpu_list("5-3").empty());
}

TEST(Topology, TellsTheSameCoreNumberOfTwoSocketsApart) {
  Root root;
  root.cpu(0, 0, 0);
  root.cpu(1, 0, 1);
  EXPECT_EQ(Topology::read(root.path(), {0, 1}).physical_cores().size(), 2U);
}

TEST(Topology, UnifiedQuotaIsRoundedDownAndNeverBelowOne) {
  Root root;
  root.file("/proc/self/cgroup", "0::/\n");
  root.file("/sys/fs/cgroup/cpu.stat", "nr_throttled 0\n");
  root.file("/sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(Topology::read(root.path(), {0, 1, 2, 3}).usable_cores(), 2U);
  root.file("/sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(Topology::read(root.path(), {0, 1, 2, 3}).usable_cores(), 1U);
  root.file("/sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(Topology::read(root.path(), {0, 1, 2, 3}).usable_cores(), 4U);
}

TEST(Topology, AffinityBelowTheQuotaDecides) {
  Root root;
  root.file("/proc/self/cgroup", "0::/\n");
  root.file("/sys/fs/cgroup/cpu.stat", "");
  root.file("/sys/fs/cgroup/cpu.max", "800000 100000\n");
  EXPECT_EQ(Topology::read(root.path(), {0, 1}).usable_cores(), 2U);
}

TEST(Topology, TheTightestQuotaOnTheWayUpCounts) {
  Root root;
  root.file("/proc/self/cgroup", "0::/a/b\n");
  root.file("/sys/fs/cgroup/a/b/cpu.stat", "");
  root.file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
  root.file("/sys/fs/cgroup/a/cpu.stat", "");
  root.file("/sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  EXPECT_DOUBLE_EQ(Topology::read(root.path(), {0, 1, 2, 3}).quota_cpus, 3.0);
}

TEST(Topology, ReadsVersionOneQuotas) {
  Root root;
  root.file("/proc/self/cgroup", "9:name=systemd:/\n3:cpuset:/x\n1:cpu,cpuacct:/x\n0::/\n");
  root.file("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "200000\n");
  root.file("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Topology::read(root.path(), {0, 1, 2, 3}).usable_cores(), 2U);
  root.file("/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(Topology::read(root.path(), {0, 1, 2, 3}).usable_cores(), 4U);
}

TEST(Topology, FallsBackToTheMountWhenTheGroupIsTheHosts) {
  Root root;
  root.file("/proc/self/cgroup", "1:cpu:/docker/abc\n");
  root.file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  root.file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(Topology::read(root.path(), {0, 1, 2, 3}).usable_cores(), 1U);
}

TEST(Topology, SurvivesFilesFullOfNonsense) {
  Root root;
  root.file("/proc/self/cgroup", "::\nnonsense\n0::\n:cpu:\n1:cpu:/../..\n");
  root.file("/sys/fs/cgroup/cpu.stat", "\n");
  root.file("/sys/fs/cgroup/cpu.max", "-5 0\n");
  EXPECT_EQ(Topology::read(root.path(), {0}).usable_cores(), 1U);
}

TEST(Topology, ReadsThisHost) {
  const Topology topology = Topology::read();
  EXPECT_GE(topology.usable_cores(), 1U);
  EXPECT_LE(topology.usable_cores(), topology.cpus.size());
}

TEST(ThisThread, SaysWhichCpuItCannotPinTo) {
  const Status status = pin_this_thread(1'000);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("cannot pin to cpu 1000"), std::string::npos);
  EXPECT_FALSE(pin_this_thread(-1));
}

}  // namespace
}  // namespace taut
