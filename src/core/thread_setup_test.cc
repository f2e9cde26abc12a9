#include "core/thread_setup.h"

#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "core/topology.h"

namespace taut {
namespace {

using Scheduling = ThreadSetup::Scheduling;
using Strategy = WaitOptions::Strategy;

/// What a thread became, and the lines that were said about it.
struct Outcome {
  int policy = -1;
  int memory_policy = -1;
  cpu_set_t cpus{};
  std::vector<std::string> lines;
};

/// On a thread of its own, so that the test's keeps its class and its processors.
Outcome after(const ThreadSetup& setup, Strategy strategy) {
  Outcome outcome;
  LogRing log(3);
  std::thread([&] {
    set_up_this_thread(setup, strategy, log);
    outcome.policy = sched_getscheduler(0);
    syscall(SYS_get_mempolicy, &outcome.memory_policy, nullptr, 0UL, nullptr, 0UL);
    sched_getaffinity(0, sizeof(outcome.cpus), &outcome.cpus);
  }).join();
  log.drain([&](const LogRecord& record) { outcome.lines.emplace_back(record.format); });
  return outcome;
}

bool says(const Outcome& outcome, std::string_view text) {
  return outcome.lines.size() == 1 && outcome.lines[0].find(text) != std::string::npos;
}

TEST(ThreadSetup, WithoutWishesChangesNothingAndSaysNothing) {
  const Outcome outcome = after({}, Strategy::adaptive);
  EXPECT_EQ(outcome.policy, SCHED_OTHER);
  EXPECT_TRUE(outcome.lines.empty());
}

TEST(ThreadSetup, PinsToTheCpuOrSaysThatItCannot) {
  const int cpu = Topology::read().cpus.back().cpu;
  const Outcome pinned = after({.pin_to_cpu = cpu}, Strategy::adaptive);
  EXPECT_EQ(CPU_COUNT(&pinned.cpus), 1);
  EXPECT_TRUE(CPU_ISSET(static_cast<size_t>(cpu), &pinned.cpus));
  EXPECT_TRUE(says(after({.pin_to_cpu = 1'000}, Strategy::adaptive), "taskset"));
}

TEST(ThreadSetup, RefusesToSpinInRealTimeOnACoreThatIsNotIsolated) {
  for (const Scheduling scheduling : {Scheduling::fifo, Scheduling::rr}) {
    for (size_t i = 0; i < WaitOptions::kNames.size(); ++i) {
      const auto strategy = static_cast<Strategy>(i);
      EXPECT_EQ(scheduling_harms({.scheduling = scheduling}, strategy), strategy != Strategy::park);
      EXPECT_FALSE(scheduling_harms({.isolated = true, .scheduling = scheduling}, strategy));
    }
    const Outcome outcome = after({.scheduling = scheduling}, Strategy::busy);
    EXPECT_EQ(outcome.policy, SCHED_OTHER);
    EXPECT_TRUE(says(outcome, "50 ms of every second"));
  }
  EXPECT_FALSE(scheduling_harms({}, Strategy::busy));
}

TEST(ThreadSetup, TakesTheClassOrGoesOnAndSaysWhatItCosts) {
  for (const auto& [scheduling, policy] :
       {std::pair{Scheduling::fifo, SCHED_FIFO}, {Scheduling::rr, SCHED_RR}}) {
    const Outcome outcome = after({.scheduling = scheduling}, Strategy::park);
    if (outcome.lines.empty()) {
      EXPECT_EQ(outcome.policy, policy);
    } else {
      EXPECT_EQ(outcome.policy, SCHED_OTHER);
      EXPECT_TRUE(says(outcome, "CAP_SYS_NICE"));
    }
  }
}

TEST(ThreadSetup, GoesOnWhenTheHostRefusesTheClass) {
  const Outcome outcome = after({.scheduling = Scheduling::fifo, .priority = 1'000}, Strategy::park);
  EXPECT_EQ(outcome.policy, SCHED_OTHER);
  EXPECT_TRUE(says(outcome, "goes on as other"));
}

TEST(ThreadSetup, TakesMemoryOfItsNodeOrSaysThatItCannot) {
  const Outcome outcome = after({.local_memory = true}, Strategy::adaptive);
  EXPECT_TRUE(outcome.lines.empty() ? outcome.memory_policy == MPOL_LOCAL : says(outcome, "NUMA"));
}

}  // namespace
}  // namespace taut
