#include "gateway/blocked_visitors.h"

#include <gtest/gtest.h>

namespace taut::gateway {
namespace {

TEST(BlockedVisitors, ABlockHoldsUntilItsEndAndIsForgottenThen) {
  BlockedVisitors blocked;
  EXPECT_FALSE(blocked.blocks("v1", 0));
  blocked.block("v1", 100);
  EXPECT_TRUE(blocked.blocks("v1", 99));
  EXPECT_FALSE(blocked.blocks("v2", 99));
  EXPECT_FALSE(blocked.blocks("v1", 100));
  EXPECT_EQ(blocked.size(), 0U);
}

TEST(BlockedVisitors, TheLastWordCounts) {
  BlockedVisitors blocked;
  blocked.block("v1", 100);
  blocked.block("v1", 50);
  EXPECT_EQ(blocked.size(), 1U);
  EXPECT_FALSE(blocked.blocks("v1", 60));
  blocked.block("v1", 100);
  blocked.unblock("v1");
  blocked.unblock("v1");
  EXPECT_FALSE(blocked.blocks("v1", 0));
}

TEST(BlockedVisitors, TheOneThatEndsFirstMakesRoom) {
  BlockedVisitors blocked(3);
  blocked.block("late", 300);
  blocked.block("early", 100);
  blocked.block("middle", 200);
  blocked.block("middle", 200);
  EXPECT_EQ(blocked.size(), 3U);
  blocked.block("new", 50);
  EXPECT_EQ(blocked.size(), 3U);
  EXPECT_FALSE(blocked.blocks("early", 0));
  for (const char* id : {"late", "middle", "new"}) EXPECT_TRUE(blocked.blocks(id, 0)) << id;
}

}  // namespace
}  // namespace taut::gateway
