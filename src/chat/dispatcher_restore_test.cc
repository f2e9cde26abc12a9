#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chat/dispatcher_fixture.h"

namespace taut::chat {
namespace {

using Words = std::vector<std::string>;
constexpr int64_t kGraceSeconds = 30;

class DispatcherRestoreTest : public DispatcherFixture, public testing::Test {
 protected:
  void restore_queued(uint32_t n, uint32_t place, uint32_t owner_epoch = 0) {
    ASSERT_TRUE(d.conversation_restored(
        {.conversation = key(n), .number = place, .opening = 1, .owner_epoch = owner_epoch, .owner = {}},
        now_ns));
  }
  void restore_owned(uint32_t n, uint32_t place, const std::string& owner, uint32_t owner_epoch,
                     bool accepted) {
    ASSERT_TRUE(d.conversation_restored({.conversation = key(n),
                                         .number = place,
                                         .opening = 1,
                                         .owner_epoch = owner_epoch,
                                         .owner = owner,
                                         .accepted = accepted},
                                        now_ns));
  }
  void restore_word(const std::string& id, Presence status, uint32_t capacity = Dispatcher::kTokenCapacity) {
    ASSERT_TRUE(d.agent_restored(id, status, capacity, now_ns));
  }
};

TEST_F(DispatcherRestoreTest, WhatWaitedWaitsAtItsOldPlaceInWhateverOrderItIsHeardOf) {
  restore_queued(3, 3);
  restore_queued(1, 1, 4);
  open(9);  // new, and heard of before an old one
  restore_queued(2, 2);
  EXPECT_EQ(d.queued(0), 4U);
  online("a", 10);
  EXPECT_EQ(take(), (Words{"assign 1 a #5", "assign 2 a #1", "assign 3 a #1", "assign 9 a #1"}));
}

TEST_F(DispatcherRestoreTest, PlacesAreToldAsOfThoseWhoWait) {
  restore_queued(2, 2);
  restore_queued(1, 1);
  d.flush_positions();
  EXPECT_EQ(take(), (Words{"position 1 1", "position 2 2"}));
}

TEST_F(DispatcherRestoreTest, WhatAnAgentHadIsItsLoadAndMovesToWhereItConnects) {
  restore_owned(1, 1, "a", 7, true);
  restore_owned(2, 2, "a", 3, false);
  EXPECT_EQ(d.load("a"), 2U);
  restore_word("a", Presence::online);
  restore_queued(3, 3);
  connect("a", 3);
  EXPECT_EQ(take(), (Words{"moved 1 #7", "moved 2 #3", "assign 3 a #1"}));
  open(4);
  EXPECT_EQ(take(), Words{}) << "full";
}

TEST_F(DispatcherRestoreTest, AnOwnerWhoIsThereAlreadyIsNamedAtOnce) {
  connect("a", 3);
  restore_owned(1, 1, "a", 7, true);
  EXPECT_EQ(take(), Words{"moved 1 #7"});
  disconnect("a");
  restore_owned(2, 2, "a", 1, true);
  EXPECT_EQ(take(), Words{"moved 2 #1"}) << "it may come back to the same endpoint";
  pass(kGraceSeconds);
  EXPECT_EQ(take(), (Words{"requeue 1 offline #8", "requeue 2 offline #2"}));
}

TEST_F(DispatcherRestoreTest, AnOfferCanBeAcceptedAndRunsOutFromTheRestartOn) {
  restore_owned(1, 1, "a", 1, false);
  restore_owned(2, 2, "a", 1, false);
  connect("a", 2);
  (void)take();
  accept(1, 1);
  pass(kAcceptSeconds - 1);
  EXPECT_EQ(take(), Words{});
  pass(1);
  EXPECT_EQ(take(), Words{"requeue 2 timeout #2"});
}

TEST_F(DispatcherRestoreTest, WhoDoesNotComeBackLosesItAfterTheGrace) {
  restore_owned(1, 1, "a", 1, true);
  restore_word("a", Presence::away);
  EXPECT_EQ(d.effective_presence("a"), Presence::away);
  pass(kGraceSeconds - 1);
  EXPECT_EQ(take(), Words{});
  pass(1);
  EXPECT_EQ(take(), Words{"requeue 1 offline #2"});
  EXPECT_EQ(d.effective_presence("a"), Presence::offline);
}

TEST_F(DispatcherRestoreTest, WhoComesBackInTimeKeepsIt) {
  restore_owned(1, 1, "a", 1, true);
  pass(kGraceSeconds - 1);
  connect("a", 1);
  (void)take();
  pass(2 * kGraceSeconds);
  EXPECT_EQ(take(), Words{});
  EXPECT_EQ(d.load("a"), 1U);
}

TEST_F(DispatcherRestoreTest, WordsHoldFromTheConnectionOnAndSetACapacity) {
  restore_word("a", Presence::online, 1);
  EXPECT_EQ(d.effective_presence("a"), Presence::offline);
  open(1);
  open(2);
  EXPECT_EQ(take(), Words{});
  connect("a", 5);
  EXPECT_EQ(take(), Words{"assign 1 a #1"});
}

TEST_F(DispatcherRestoreTest, WhatIsOfferedOverTakenOrClosedIsAsUsual) {
  restore_owned(1, 1, "a", 4, false);
  restore_queued(2, 2);
  online("b", 5);
  EXPECT_EQ(take(), Words{"assign 2 b #1"});
  EXPECT_EQ(d.take(key(1), "b", now_ns), Code::ok);
  EXPECT_EQ(take(), Words{"assign 1 b #5 accepted"});
  d.closed(key(1), now_ns);
  EXPECT_EQ(d.conversations(), 1U);
}

TEST_F(DispatcherRestoreTest, TheConversationsOfAnAgentTooManyGoBackToTheirQueue) {
  for (uint32_t i = 0; i < kAgentsMax; ++i) restore_word("x" + std::to_string(i), Presence::away);
  EXPECT_FALSE(d.agent_restored("a", Presence::online, 1, now_ns));
  restore_owned(1, 1, "a", 3, true);
  EXPECT_EQ(take(), Words{"requeue 1 offline #4"});
  EXPECT_EQ(d.queued(0), 1U);
}

TEST_F(DispatcherRestoreTest, NoMoreThanMayBeOpenAreTaken) {
  for (uint32_t n = 0; n < kConversationsMax; ++n) restore_queued(n, n + 1);
  EXPECT_FALSE(d.conversation_restored(
      {.conversation = key(kConversationsMax), .number = kConversationsMax + 1, .opening = 1, .owner = {}},
      now_ns));
}

}  // namespace
}  // namespace taut::chat
