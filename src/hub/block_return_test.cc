#include "hub/block_return.h"

#include <gtest/gtest.h>

#include "hub/hand_turned_shard.h"

namespace taut::hub {
namespace {

class TwoShards : public testing::Test {
 protected:
  ManualClock clock;
  Mesh mesh{{.members = 2}};
  HandTurnedShard here{0, mesh, clock};
  HandTurnedShard there{1, mesh, clock};
};

TEST_F(TwoShards, AnOwnBlockIsHomeAtOnce) {
  Block* block = here.pool().allocate(100);
  here.back().release(block);
  EXPECT_EQ(here.outstanding(), 0U);
}

TEST_F(TwoShards, AForeignBlockIsHomeAfterAFlushAndItsOwnersTurn) {
  Block* block = there.pool().allocate(100);
  here.back().release(block);
  EXPECT_EQ(there.outstanding(), 1U);
  here.flush();
  EXPECT_EQ(there.outstanding(), 1U);
  there.turn();
  EXPECT_EQ(there.outstanding(), 0U);
}

TEST_F(TwoShards, SevenBlocksTravelInOneMailAndAFlushSendsTheRest) {
  for (int i = 0; i < 15; ++i) here.back().release(there.pool().allocate(100));
  here.turn();
  there.turn();
  EXPECT_EQ(there.program.returns, 2);
  EXPECT_EQ(there.outstanding(), 1U);
  here.flush();
  there.turn();
  EXPECT_EQ(there.program.returns, 3);
  EXPECT_EQ(there.outstanding(), 0U);
}

TEST_F(TwoShards, AFlushWithNothingToReturnSendsNothing) {
  here.back().flush();
  EXPECT_EQ(here.shard.metrics().mails_sent.load(), 0U);
}

TEST_F(TwoShards, EachReferenceIsReturnedByItself) {
  Block* block = there.pool().allocate(100);
  there.pool().add_ref(block);
  here.back().release(block);
  here.flush();
  there.turn();
  EXPECT_EQ(there.outstanding(), 1U);
  here.back().release(block);
  here.flush();
  there.turn();
  EXPECT_EQ(there.outstanding(), 0U);
}

}  // namespace
}  // namespace taut::hub
