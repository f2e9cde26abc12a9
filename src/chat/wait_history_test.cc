#include "chat/wait_history.h"

#include <gtest/gtest.h>

namespace taut::chat {
namespace {

TEST(WaitHistory, KnowsNothingBelowFive) {
  WaitHistory waits;
  for (int64_t i = 0; i < 4; ++i) waits.add(7);
  EXPECT_EQ(waits.median_ns(), std::nullopt);
  waits.add(7);
  EXPECT_EQ(waits.median_ns(), 7);
}

TEST(WaitHistory, TheMedianIsNotMovedByOneLongWait) {
  WaitHistory waits;
  for (const int64_t wait : {3, 1, 1'000'000, 2, 4}) waits.add(wait);
  EXPECT_EQ(waits.median_ns(), 3);
  waits.add(0);
  EXPECT_EQ(waits.median_ns(), 2) << "the lower of 2 and 3";
}

TEST(WaitHistory, OnlyTheLastFiftyCount) {
  WaitHistory waits;
  for (uint32_t i = 0; i < WaitHistory::kKept; ++i) waits.add(1000);
  for (uint32_t i = 0; i < WaitHistory::kKept / 2; ++i) waits.add(10);
  EXPECT_EQ(waits.median_ns(), 10);
  for (uint32_t i = 0; i < WaitHistory::kKept; ++i) waits.add(20);
  EXPECT_EQ(waits.median_ns(), 20);
}

}  // namespace
}  // namespace taut::chat
