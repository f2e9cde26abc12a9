#include "core/snapshot_cell.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace taut {
namespace {

struct Values {
  uint64_t first = 0;
  uint64_t middle[5] = {};
  uint32_t last = 0;
};

TEST(SnapshotCell, GivesBackWhatWasStoredLast) {
  SnapshotCell<Values> cell;
  EXPECT_EQ(cell.load().last, 0U);
  cell.store({.first = 1, .middle = {2, 3, 4, 5, 6}, .last = 7});
  EXPECT_EQ(cell.load().first, 1U);
  EXPECT_EQ(cell.load().middle[4], 6U);
  EXPECT_EQ(cell.load().last, 7U);
}

TEST(SnapshotCell, IsReadWholeWhileItIsReplaced) {
  constexpr uint32_t kRounds = 20'000;
  SnapshotCell<Values> cell;
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (uint32_t i = 1; i <= kRounds; ++i) cell.store({.first = i, .middle = {i, i, i, i, i}, .last = i});
    done = true;
  });
  uint64_t seen = 0;
  while (!done) {
    const Values values = cell.load();
    ASSERT_GE(values.first, seen);
    seen = values.first;
    for (const uint64_t middle : values.middle) ASSERT_EQ(middle, values.first);
    ASSERT_EQ(values.last, values.first);
  }
  writer.join();
  EXPECT_EQ(cell.load().last, kRounds);
}

}  // namespace
}  // namespace taut
