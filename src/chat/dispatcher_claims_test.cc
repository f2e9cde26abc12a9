// What agents ask of the dispatcher: to take a conversation, to give one away.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "chat/dispatcher.h"
#include "chat/dispatcher_fixture.h"

namespace taut::chat {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DispatcherClaims : public DispatcherFixture, public testing::Test {
 protected:
  Code take_it(uint64_t n, const std::string& id) { return d.take(key(n), id, now_ns); }
  Code give(uint64_t n, uint32_t owner_epoch, const std::string& id) {
    return d.transfer_to_agent(key(n), owner_epoch, id, now_ns);
  }
  Code give_group(uint64_t n, uint32_t owner_epoch, GroupId group) {
    return d.transfer_to_group(key(n), owner_epoch, group, now_ns);
  }
  void away(const std::string& id, uint32_t capacity) {
    connect(id, capacity);
    presence(id, Presence::away);
  }
};

// -- take --

TEST_F(DispatcherClaims, AWaitingConversationIsTakenAndAcceptedAtOnce) {
  away("a1", 1);
  open(1);
  EXPECT_EQ(take_it(1, "a1"), Code::ok);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1 accepted"));
  EXPECT_EQ(d.load("a1"), 1U);
  EXPECT_EQ(d.queued(0), 0U);
  pass(kAcceptSeconds + 1);
  EXPECT_THAT(take(), IsEmpty()) << "nothing is left to time out";
}

// Two agents took the same chat.
TEST_F(DispatcherClaims, OfAHundredWhoTakeTheSameOneWins) {
  open(1);
  for (uint32_t a = 0; a < kAgentsMax; ++a) away("a" + std::to_string(a), 1);
  uint32_t taken = 0;
  EXPECT_EQ(take_it(1, "a7"), Code::ok);
  for (uint32_t a = 0; a < kAgentsMax; ++a) {
    if (a != 7) taken += take_it(1, "a" + std::to_string(a)) == Code::taken ? 1 : 0;
  }
  EXPECT_EQ(taken, kAgentsMax - 1);
  EXPECT_THAT(take(), ElementsAre("assign 1 a7 #1 accepted"));
}

TEST_F(DispatcherClaims, AnOfferToAnotherIsTakenAndTheOtherGetsTheNextOne) {
  online("a1", 1);
  away("a2", 1);
  open(1);
  open(2);
  (void)take();
  EXPECT_EQ(take_it(1, "a2"), Code::ok);
  EXPECT_THAT(take(), ElementsAre("assign 1 a2 #2 accepted", "assign 2 a1 #1"));
}

TEST_F(DispatcherClaims, AnAcceptOfAnOfferThatWasTakenMeanwhileIsIgnored) {
  online("a1", 1);
  away("a2", 1);
  open(1);
  ASSERT_EQ(take_it(1, "a2"), Code::ok);
  accept(1, 1);
  EXPECT_EQ(d.load("a1"), 0U);
  EXPECT_EQ(d.load("a2"), 1U);
}

TEST_F(DispatcherClaims, OnesOwnIsOkAndAccepted) {
  online("a1", 1);
  open(1);
  (void)take();
  EXPECT_EQ(take_it(1, "a1"), Code::ok);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1 accepted")) << "the same assignment";
  EXPECT_EQ(take_it(1, "a1"), Code::ok);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1 accepted")) << "each ok brings one";
  pass(kAcceptSeconds + 1);
  EXPECT_EQ(d.load("a1"), 1U);
}

TEST_F(DispatcherClaims, AFullAgentMayNotTake) {
  online("a1", 1);
  open(1);
  open(2);
  (void)take();
  EXPECT_EQ(take_it(2, "a1"), Code::capacity);
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(d.queued(0), 1U);
}

TEST_F(DispatcherClaims, OnlyAgentsOfTheGroupTake) {
  connect("a1", 1, group_bit(1));
  open(1);
  EXPECT_EQ(take_it(1, "a1"), Code::not_yours);
  EXPECT_EQ(take_it(1, "nobody"), Code::not_yours);
  EXPECT_EQ(take_it(2, "a1"), Code::closed) << "its close came first";
}

TEST_F(DispatcherClaims, AHoldDoesNotKeepAnAgentFromTaking) {
  online("a1", 1);
  open(1);
  d.declined(key(1), 1, now_ns);
  (void)take();
  EXPECT_EQ(take_it(1, "a1"), Code::ok);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #3 accepted"));
  pass(61);
  EXPECT_THAT(take(), IsEmpty()) << "the hold is over";
}

// -- transfer --

TEST_F(DispatcherClaims, ATransferNeedsAnAccept) {
  online("a1", 1);
  open(1);
  accept(1, 1);
  away("a2", 1);
  (void)take();
  EXPECT_EQ(give(1, 1, "a2"), Code::ok) << "away does not matter: it was asked for by name";
  EXPECT_THAT(take(), ElementsAre("assign 1 a2 #2"));
  EXPECT_EQ(d.load("a1"), 0U);
  accept(1, 2);
  pass(kAcceptSeconds + 1);
  EXPECT_EQ(d.load("a2"), 1U);
}

TEST_F(DispatcherClaims, ATransferThatNobodyAcceptsWaitsAtItsOldPlace) {
  online("a1", 1);
  open(1);
  accept(1, 1);
  online("a2", 1);
  (void)take();
  ASSERT_EQ(give(1, 1, "a2"), Code::ok);
  presence("a1", Presence::away);
  open(2);
  (void)take();
  pass(kAcceptSeconds);
  EXPECT_THAT(take(), ElementsAre("requeue 1 timeout #3", "assign 2 a2 #1")) << "held from a2";
  presence("a1", Presence::online);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #4"));
}

TEST_F(DispatcherClaims, AnAgentFullOrGoneGetsNothing) {
  online("a1", 2);
  open(1);
  accept(1, 1);
  online("a2", 1);
  open(2);  // to a2
  connect("a3", 1);
  connect("a4", 1, group_bit(1));
  presence("a4", Presence::online);
  online("a5", 1);
  disconnect("a5");
  (void)take();
  EXPECT_EQ(give(1, 1, "a2"), Code::capacity);
  EXPECT_EQ(give(1, 1, "a3"), Code::unavailable) << "never said it was online";
  EXPECT_EQ(give(1, 1, "a4"), Code::forbidden) << "not of the group";
  EXPECT_EQ(give(1, 1, "a5"), Code::capacity) << "may come back within its grace";
  EXPECT_EQ(give(1, 1, "nobody"), Code::unavailable);
  EXPECT_EQ(give(1, 1, "a1"), Code::ok) << "nothing to do";
  pass(31);
  EXPECT_EQ(give(1, 1, "a5"), Code::unavailable) << "its grace is over";
}

TEST_F(DispatcherClaims, OnlyTheAssignmentThatStandsIsGivenAway) {
  online("a1", 1);
  online("a2", 1);
  open(1);
  EXPECT_EQ(give(1, 0, "a2"), Code::not_yours);
  EXPECT_EQ(give(1, 2, "a2"), Code::not_yours);
  EXPECT_EQ(give(1, 1, "a2"), Code::ok);
  EXPECT_EQ(give(1, 1, "a1"), Code::not_yours) << "it was given away before";
  EXPECT_EQ(give_group(1, 1, 1), Code::not_yours);
  EXPECT_EQ(give(2, 1, "a1"), Code::closed);
  EXPECT_EQ(give_group(2, 1, 1), Code::closed);
}

TEST_F(DispatcherClaims, AGroupGetsItAtItsOldPlace) {
  online("a1", 1);
  open(1);
  accept(1, 1);
  open(2, 1);
  (void)take();
  EXPECT_EQ(give_group(1, 1, 1), Code::ok);
  EXPECT_THAT(take(), ElementsAre("requeue 1 transferred #2"));
  EXPECT_EQ(d.queued(1), 2U);
  connect("a2", 2, group_bit(1));
  presence("a2", Presence::online);
  EXPECT_THAT(take(), ElementsAre("assign 1 a2 #3", "assign 2 a2 #1"));
}

TEST_F(DispatcherClaims, WhatAnAgentGaveToItsOwnGroupDoesNotComeStraightBack) {
  online("a1", 1);
  open(1);
  (void)take();
  EXPECT_EQ(give_group(1, 1, 0), Code::ok);
  EXPECT_THAT(take(), ElementsAre("requeue 1 transferred #2"));
  online("a2", 1);
  EXPECT_THAT(take(), ElementsAre("assign 1 a2 #3"));
}

}  // namespace
}  // namespace taut::chat
