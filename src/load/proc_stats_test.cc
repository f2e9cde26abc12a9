#include "load/proc_stats.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <thread>

namespace taut::load {
namespace {

TEST(ProcStats, CountsTheCpuTimeOfEveryThread) {
  const Result<ProcStats> before = read_proc_stats(getpid());
  ASSERT_TRUE(before);
  const int release = eventfd(0, 0);
  int64_t burned_ns = 0;
  std::thread burner([&] {
    while ((burned_ns = thread_cpu_ns()) < 50'000'000) {
    }
    const uint64_t one = 1;
    EXPECT_EQ(write(release, &one, sizeof(one)), 8);
    pollfd never{.fd = -1, .events = 0, .revents = 0};
    poll(&never, 1, 300);  // alive while it is measured
  });
  uint64_t go = 0;
  ASSERT_EQ(read(release, &go, sizeof(go)), 8);
  const Result<ProcStats> after = read_proc_stats(getpid());
  burner.join();
  close(release);
  ASSERT_TRUE(after);
  EXPECT_GE((*after - *before).cpu_ns, burned_ns / 2);
}

TEST(ProcStats, CountsWaitingAsVoluntarySwitches) {
  const ProcStats before = read_proc_stats(getpid()).value();
  pollfd never{.fd = -1, .events = 0, .revents = 0};
  for (int i = 0; i < 20; ++i) poll(&never, 1, 1);
  const ProcStats spent = read_proc_stats(getpid()).value() - before;
  EXPECT_GE(spent.voluntary, 20);
}

TEST(ProcStats, SaysThatAProcessIsGone) {
  EXPECT_FALSE(read_proc_stats(0x7FFF'FFFF));
}

}  // namespace
}  // namespace taut::load
