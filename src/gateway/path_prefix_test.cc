#include "gateway/path_prefix.h"

#include <gtest/gtest.h>

namespace taut::gateway {
namespace {

TEST(PathBelow, TakesThePrefixAwayAndNothingElse) {
  EXPECT_EQ(path_below("", "/v1/chat"), "/v1/chat");
  EXPECT_EQ(path_below("/x", "/x/v1/chat"), "/v1/chat");
  EXPECT_EQ(path_below("/x/y", "/x/y/"), "/");
}

TEST(PathBelow, WhatIsNotBelowIsNothing) {
  EXPECT_EQ(path_below("/x", "/v1/chat"), "");
  EXPECT_EQ(path_below("/x", "/xy/v1/chat"), "");
  EXPECT_EQ(path_below("/x", "/x"), "");
  EXPECT_EQ(path_below("/x", "/X/v1/chat"), "");
}

}  // namespace
}  // namespace taut::gateway
