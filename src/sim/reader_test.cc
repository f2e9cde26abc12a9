#include "sim/reader.h"

#include <gtest/gtest.h>

namespace taut::sim {
namespace {

/// A reader that has seen items 1 to `last` of epoch 1 and comes back.
Reader back_at(uint64_t last) {
  Reader reader;
  reader.stand_at(1, 0);
  for (uint64_t seq = 1; seq <= last; ++seq) EXPECT_EQ(reader.item(1, seq), "");
  reader.disconnected();
  reader.ask_to_resume();
  return reader;
}

TEST(Reader, ComplainsOfAnItemThatIsLeftOut) {
  Reader reader = back_at(3);
  EXPECT_EQ(reader.item(1, 4), "");
  EXPECT_NE(reader.item(1, 6), "");
}

TEST(Reader, ComplainsOfAnItemThatComesTwice) {
  Reader reader = back_at(3);
  EXPECT_NE(reader.item(1, 3), "");
}

TEST(Reader, TakesAnAckForTheItem) {
  Reader reader = back_at(3);
  EXPECT_EQ(reader.resumed(1, 3), "");
  reader.own(1, 5);  // its own accept comes behind
  EXPECT_FALSE(reader.complete());
  EXPECT_EQ(reader.item(1, 4), "");
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(reader.seq(), 5U);
}

TEST(Reader, ComplainsOfAResumeThatEndsTooEarly) {
  Reader reader = back_at(3);
  EXPECT_EQ(reader.item(1, 4), "");
  EXPECT_NE(reader.resumed(1, 6), "");
}

TEST(Reader, GoesBackWhereACrashHasUndoneItems) {
  Reader reader = back_at(5);
  EXPECT_EQ(reader.gap_back(1, 4, 5), "");
  EXPECT_EQ(reader.item(2, 4), "");
  EXPECT_EQ(reader.resumed(2, 4), "");
  EXPECT_NE(reader.item(1, 5), "") << "an earlier epoch";
}

TEST(Reader, ComplainsOfAGapThatIsNotItsOwn) {
  Reader reader = back_at(5);
  EXPECT_NE(reader.gap_back(1, 4, 7), "");
  EXPECT_NE(reader.gap_expired(8, 9), "");
}

}  // namespace
}  // namespace taut::sim
