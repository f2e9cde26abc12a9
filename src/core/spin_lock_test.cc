#include "core/spin_lock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "core/poller.h"

namespace taut {
namespace {

TEST(SpinLock, IsTakenOnceAndFreeAfterItsGuard) {
  SpinLock lock;
  {
    const SpinLock::Guard guard(lock);
    EXPECT_FALSE(lock.try_lock());
  }
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

TEST(SpinLock, WaitsUntilTheHolderHasLeft) {
  SpinLock lock;
  lock.lock();
  bool left = false;  // written under the lock
  std::thread other([&] {
    const SpinLock::Guard guard(lock);
    EXPECT_TRUE(left);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  left = true;
  lock.unlock();
  other.join();
}

TEST(SpinLock, LosesNoIncrementAmongThreads) {
  constexpr int kThreads = 4;
  constexpr uint64_t kRounds = 20'000;
  SpinLock lock;
  // Two words that must always be alike: a reader that gets in between two writes shows.
  std::array<uint64_t, 2> counts{};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (uint64_t round = 0; round < kRounds;) {
        if (round % 3 == 0 && !lock.try_lock()) continue;
        if (round % 3 != 0) lock.lock();
        ASSERT_EQ(counts[0], counts[1]);
        ++counts[0];
        ++counts[1];
        lock.unlock();
        ++round;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counts[0], kThreads * kRounds);
}

#ifdef TAUT_DEBUG
/// Each does one thing that may wait while it holds a spin lock.
struct Wait {
  std::string name;
  void (*while_locked)();
};

const std::array kWaits = {
    Wait{"AnotherSpinLock",
         [] {
           SpinLock second;
           const SpinLock::Guard guard(second);
         }},
    Wait{"Yield", [] { SpinWait().spin_once(); }},
    Wait{"EpollWait",
         [] {
           std::array<PollEvent, 1> out;
           static_cast<void>((*make_epoll_poller())->wait(out, 0));
         }},
    Wait{"EventfdWrite", [] { (*make_epoll_poller())->wake(); }},
    Wait{"FileOpen", [] { static_cast<void>(PosixFileSystem().open("/tmp/taut-never-opened")); }},
    Wait{"FileRead", [] { static_cast<void>(PosixFileSystem().read_front("/proc/self/stat", 4096)); }},
    Wait{"DirectorySync", [] { static_cast<void>(PosixFileSystem().sync_directory("/tmp")); }},
};

class SpinLockDeathTest : public testing::TestWithParam<Wait> {
 protected:
  SpinLockDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
INSTANTIATE_TEST_SUITE_P(NoWait, SpinLockDeathTest, testing::ValuesIn(kWaits),
                         [](const auto& made) { return made.param.name; });

TEST_P(SpinLockDeathTest, AbortsWhoeverWaitsWithALockInHand) {
  GetParam().while_locked();  // without one it is allowed
  EXPECT_DEATH(
      {
        SpinLock lock;
        const SpinLock::Guard guard(lock);
        GetParam().while_locked();
      },
      "waits with a spin lock in hand");
}

TEST(SpinLockOwnerDeathTest, AbortsWhoeverReleasesWhatItDoesNotHold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(SpinLock().unlock(), "released by the thread that took it");
}
#endif

}  // namespace
}  // namespace taut
