#include "sim/blocks.h"

#include <gtest/gtest.h>

#include <string>

namespace taut::sim {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

class BlocksTest : public testing::Test {
 protected:
  void order(uint32_t seconds) { blocks.answered(blocks.asked("v", seconds)); }
  void pass(int64_t seconds) { clock.advance_ns(seconds * kSecondNs); }
  [[nodiscard]] std::string hurt() const { return oracle.violation() ? oracle.violation()->name : ""; }

  SimClock clock;
  Oracle oracle{false};
  Blocks blocks{oracle, clock};
};

TEST_F(BlocksTest, WhoIsBlockedStaysOutAndNobodyElse) {
  blocks.let_in("v", blocks.now());
  order(10);
  blocks.kept_out("v", blocks.now());
  EXPECT_EQ(hurt(), "");
  blocks.let_in("v", blocks.now());
  EXPECT_EQ(hurt(), "who is blocked stays out");
}

TEST_F(BlocksTest, ABlockEndsByItselfAndByAnOrder) {
  order(10);
  pass(11);
  blocks.let_in("v", blocks.now());
  order(10);
  order(0);
  blocks.let_in("v", blocks.now());
  EXPECT_EQ(hurt(), "");
  blocks.kept_out("v", blocks.now());
  EXPECT_EQ(hurt(), "who is not blocked is let in");
}

TEST_F(BlocksTest, UntilTheAnswerHasComeBothAreRight) {
  order(10);
  static_cast<void>(blocks.asked("v", 0));
  blocks.let_in("v", blocks.now());
  blocks.kept_out("v", blocks.now());
  EXPECT_EQ(hurt(), "");
}

TEST_F(BlocksTest, WhoBeganBeforeTheAnswerMayBeToldEither) {
  const Blocks::Moment before = blocks.now();
  order(10);
  blocks.let_in("v", before);
  EXPECT_EQ(hurt(), "");
}

TEST_F(BlocksTest, ACrashMayUndoWhatWasNotDurable) {
  order(10);
  blocks.ended(false);
  blocks.let_in("v", blocks.now());
  blocks.kept_out("v", blocks.now());
  EXPECT_EQ(hurt(), "");
}

TEST_F(BlocksTest, ABlockThatIsDurableOutlivesACrashAndEndsInTime) {
  order(10);
  blocks.at_rest();
  blocks.ended(false);
  pass(11);
  blocks.let_in("v", blocks.now());
  EXPECT_EQ(hurt(), "");
  order(10);
  blocks.ended(true);
  blocks.let_in("v", blocks.now());
  EXPECT_EQ(hurt(), "who is blocked stays out");
}

TEST_F(BlocksTest, OverAStartTheClockOnTheWallCounts) {
  order(10);
  blocks.at_rest();
  clock.jump_ms(11'000);
  blocks.clock_jumped();
  blocks.kept_out("v", blocks.now());
  blocks.ended(true);
  blocks.let_in("v", blocks.now());
  EXPECT_EQ(hurt(), "");
}

}  // namespace
}  // namespace taut::sim
