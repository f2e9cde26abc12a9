#include "chat/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "chat/dispatcher_fixture.h"

namespace taut::chat {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class DispatcherTest : public DispatcherFixture, public testing::Test {};

// -- Who is assignable --

TEST_F(DispatcherTest, AnOnlineAgentGetsAConversationAtOnce) {
  online("a1", 1);
  open(1);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1"));
  EXPECT_EQ(d.load("a1"), 1U);
}

TEST_F(DispatcherTest, AWaitingConversationGoesToTheFirstAgentWhoComesOnline) {
  open(1);
  connect("a1", 1);
  EXPECT_THAT(take(), IsEmpty()) << "never set is offline; connecting changes nothing";
  presence("a1", Presence::online);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1"));
}

TEST_F(DispatcherTest, OnlyOnlineIsAssignable) {
  connect("a1", 5);
  open(1);
  for (const Presence status : {Presence::busy, Presence::away, Presence::offline}) {
    presence("a1", status);
    EXPECT_THAT(take(), IsEmpty()) << name(status);
  }
  presence("a1", Presence::online);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1"));
}

TEST_F(DispatcherTest, CapacityIsTheLowerOfTokenAndOwnWord) {
  connect("a1", 3);
  presence("a1", Presence::online, 2);
  connect("a2", 1);
  presence("a2", Presence::online, 5);
  for (uint64_t n = 1; n <= 5; ++n) open(n);
  EXPECT_EQ(d.load("a1"), 2U);
  EXPECT_EQ(d.load("a2"), 1U);
  EXPECT_EQ(d.queued(0), 2U);
}

TEST_F(DispatcherTest, ACapacityOfZeroGetsNothing) {
  connect("a1", 3);
  presence("a1", Presence::online, 0);
  open(1);
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(DispatcherTest, ALoweredCapacityTakesNothingAwayAndARaisedOneIsUsedAtOnce) {
  online("a1", 3);
  for (uint64_t n = 1; n <= 5; ++n) open(n);
  (void)take();
  presence("a1", Presence::online, 1);
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(d.load("a1"), 3U);
  d.closed(key(1), now_ns);
  EXPECT_THAT(take(), IsEmpty()) << "still above its capacity";
  presence("a1", Presence::online, 4);
  EXPECT_THAT(take(), ElementsAre("assign 4 a1 #1")) << "the token still says 3";
}

TEST_F(DispatcherTest, ManualOfflineKeepsConversationsWhileConnected) {
  online("a1", 2);
  open(1);
  accept(1, 1);
  (void)take();
  presence("a1", Presence::offline);
  pass(3600);
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(d.load("a1"), 1U);
  EXPECT_EQ(d.effective_presence("a1"), Presence::offline);
}

TEST_F(DispatcherTest, ManualOfflineSurvivesReconnecting) {
  online("a1", 2);
  presence("a1", Presence::offline);
  disconnect("a1");
  pass(100);
  connect("a1", 2);
  open(1);
  EXPECT_THAT(take(), IsEmpty());
}

// -- Whom --

TEST_F(DispatcherTest, TheLeastLoadedInProportionToCapacityIsChosen) {
  online("big", 4);
  open(1);
  open(2);
  online("small", 2);
  open(3);  // big 2/4, small 0/2
  open(4);  // big 2/4, small 1/2: big was given one longer ago
  open(5);  // big 3/4, small 1/2
  EXPECT_THAT(take(), ElementsAre("assign 1 big #1", "assign 2 big #1", "assign 3 small #1",
                                  "assign 4 big #1", "assign 5 small #1"));
}

TEST_F(DispatcherTest, AmongEqualsItGoesRound) {
  for (const char* id : {"a1", "a2", "a3"}) online(id, 10);
  for (uint64_t n = 1; n <= 6; ++n) {
    open(n);
    d.closed(key(n), now_ns);
  }
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1", "assign 2 a2 #1", "assign 3 a3 #1", "assign 4 a1 #1",
                                  "assign 5 a2 #1", "assign 6 a3 #1"));
}

TEST_F(DispatcherTest, GroupsAreKeptApart) {
  connect("a1", 5, group_bit(1));
  presence("a1", Presence::online);
  open(1, 0);
  open(2, 1);
  EXPECT_THAT(take(), ElementsAre("assign 2 a1 #1"));
  EXPECT_EQ(d.eligible(0, key(1)), Exclusion::not_in_group);
}

TEST_F(DispatcherTest, AnAgentOfSeveralGroupsGetsTheOldestOfThemAll) {
  open(1, 1);
  open(2, 0);
  open(3, 1);
  connect("a1", 2, group_bit(0) | group_bit(1));
  presence("a1", Presence::online);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1", "assign 2 a1 #1"));
}

TEST_F(DispatcherTest, ANewTokenMayChangeGroupsAndCapacity) {
  online("a1", 1);
  open(1);
  open(2, 1);
  open(3, 1);
  (void)take();
  connect("a1", 3, group_bit(1));
  EXPECT_THAT(take(), ElementsAre("assign 2 a1 #1", "assign 3 a1 #1"));
  d.closed(key(2), now_ns);
  open(4, 0);
  EXPECT_THAT(take(), IsEmpty()) << "no longer in that group";
}

// -- First come, first served --

TEST_F(DispatcherTest, TheQueueIsInOrderOfOpening) {
  for (uint64_t n = 1; n <= 4; ++n) open(n);
  online("a1", 2);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1", "assign 2 a1 #1"));
  d.closed(key(2), now_ns);
  EXPECT_THAT(take(), ElementsAre("assign 3 a1 #1"));
}

TEST_F(DispatcherTest, AReopenedConversationJoinsTheEnd) {
  open(1);
  open(2);
  d.closed(key(1), now_ns);
  ASSERT_TRUE(d.conversation_opened(key(1), 0, 2, 0, now_ns));
  online("a1", 1);
  EXPECT_THAT(take(), ElementsAre("assign 2 a1 #1"));
}

TEST_F(DispatcherTest, OwnerEpochsGoOnFromTheConversationsOwn) {
  online("a1", 1);
  ASSERT_TRUE(d.conversation_opened(key(1), 0, 2, 7, now_ns));
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #8"));
  EXPECT_EQ(last_opening, 2U);
}

// -- Time to accept, declining --

TEST_F(DispatcherTest, AnUnansweredOfferGoesToTheNextAgent) {
  online("a1", 1);
  open(1);
  online("a2", 1);
  (void)take();
  pass(kAcceptSeconds - 1);
  EXPECT_THAT(take(), IsEmpty());
  pass(1);
  EXPECT_THAT(take(), ElementsAre("requeue 1 timeout #2", "assign 1 a2 #3"));
  EXPECT_EQ(d.load("a1"), 0U);
}

TEST_F(DispatcherTest, AcceptedInTimeStaysForEver) {
  online("a1", 1);
  open(1);
  (void)take();
  accept(1, 1);
  EXPECT_EQ(d.next_deadline_ns(), Dispatcher::kNoDeadline);
  pass(100'000);
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(DispatcherTest, ADeclinedConversationIsHeldFromThatAgentAndBlocksNobody) {
  online("a1", 1);
  open(1);
  open(2);
  (void)take();
  d.declined(key(1), 1, now_ns);
  EXPECT_THAT(take(), ElementsAre("requeue 1 declined #2", "assign 2 a1 #1"));
  EXPECT_EQ(d.eligible(0, key(1)), Exclusion::full);
  d.closed(key(2), now_ns);
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(d.eligible(0, key(1)), Exclusion::held);
}

TEST_F(DispatcherTest, AHoldEndsByItselfAfterAMinute) {
  online("a1", 1);
  open(1);
  d.declined(key(1), 1, now_ns);
  (void)take();
  pass(59);
  EXPECT_THAT(take(), IsEmpty());
  pass(1);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #3"));
}

TEST_F(DispatcherTest, AHoldEndsWhenAnotherHadIt) {
  online("a1", 1);
  open(1);
  online("a2", 1);
  d.declined(key(1), 1, now_ns);  // to a2
  d.declined(key(1), 3, now_ns);  // back to a1, within the minute
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1", "requeue 1 declined #2", "assign 1 a2 #3",
                                  "requeue 1 declined #4", "assign 1 a1 #5"));
}

TEST_F(DispatcherTest, AHeldConversationIsStillFirstForEveryoneElse) {
  online("a1", 1);
  open(1);
  d.declined(key(1), 1, now_ns);
  presence("a1", Presence::away);
  open(2);
  (void)take();
  online("a2", 1);
  EXPECT_THAT(take(), ElementsAre("assign 1 a2 #3"));
}

TEST_F(DispatcherTest, WordsAboutAnAssignmentThatIsOverAreIgnored) {
  online("a1", 1);
  open(1);
  online("a2", 1);
  d.declined(key(1), 1, now_ns);  // a2 has it as #3
  (void)take();
  d.declined(key(1), 1, now_ns);
  accept(1, 1);
  d.closed(key(99), now_ns);
  d.declined(key(99), 1, now_ns);
  EXPECT_THAT(take(), IsEmpty());
  pass(kAcceptSeconds);
  EXPECT_THAT(take(), ElementsAre("requeue 1 timeout #4", "assign 1 a1 #5"))
      << "#1's accept did not count for #3";
}

TEST_F(DispatcherTest, DecliningAfterAcceptingIsIgnored) {
  online("a1", 1);
  open(1);
  accept(1, 1);
  (void)take();
  d.declined(key(1), 1, now_ns);
  EXPECT_THAT(take(), IsEmpty());
}

// -- Connections --

TEST_F(DispatcherTest, ComingBackWithinTheGraceKeepsEverything) {
  online("a1", 2);
  open(1);
  accept(1, 1);
  (void)take();
  disconnect("a1");
  EXPECT_EQ(d.effective_presence("a1"), Presence::online);
  pass(29);
  connect("a1", 2);
  pass(3600);
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(d.load("a1"), 1U);
}

TEST_F(DispatcherTest, NothingNewIsGivenDuringTheGrace) {
  online("a1", 2);
  disconnect("a1");
  open(1);
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(d.eligible(0, key(1)), Exclusion::disconnected);
  connect("a1", 2);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1")) << "its own word still stands";
}

TEST_F(DispatcherTest, AfterTheGraceItsConversationsGoToOthersOldestFirst) {
  online("a1", 2);
  open(1);
  open(2);
  accept(1, 1);
  accept(2, 1);
  (void)take();
  disconnect("a1");
  online("a2", 1);
  pass(29);
  EXPECT_THAT(take(), IsEmpty());
  pass(1);
  EXPECT_EQ(d.effective_presence("a1"), Presence::offline);
  EXPECT_THAT(take(), testing::UnorderedElementsAre("requeue 1 offline #2", "requeue 2 offline #2",
                                                    "assign 1 a2 #3"));
  EXPECT_EQ(d.load("a1"), 0U);
}

TEST_F(DispatcherTest, AWordAboutAnEarlierEndpointIsIgnored) {
  online("a1", 1);
  open(1);
  accept(1, 1);
  (void)take();
  const AgentKey old_key = agent_key("a1");
  connect("a1", 1, group_bit(0), Handle(1, 9, 9));
  d.agent_disconnected("a1", old_key, now_ns);
  (void)take();
  pass(100);
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(DispatcherTest, ANewEndpointIsToldToEveryConversationOfTheAgent) {
  online("a1", 3);
  open(1);
  open(2);
  (void)take();
  connect("a1", 3, group_bit(0), Handle(1, 9, 9));
  EXPECT_THAT(take(), ElementsAre("moved 1 #1", "moved 2 #1"));
  connect("a1", 3, group_bit(0), Handle(1, 9, 9));
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(DispatcherTest, OwnedListsWhatAnAgentHas) {
  online("a1", 3);
  open(1);
  open(2);
  std::pmr::vector<ConversationKey> keys;
  d.owned("a1", keys);
  EXPECT_THAT(keys, ElementsAre(key(1), key(2)));
  d.owned("nobody", keys);
  EXPECT_EQ(keys.size(), 2U);
}

// -- Closing --

TEST_F(DispatcherTest, ClosingInEveryStateFreesWhatItHeld) {
  online("a1", 1);
  open(1);
  open(2);
  d.closed(key(2), now_ns);  // queued
  d.closed(key(1), now_ns);  // assigned
  (void)take();
  open(3);
  accept(3, 1);
  d.closed(key(3), now_ns);  // active
  open(4);
  d.declined(key(4), 1, now_ns);
  d.closed(key(4), now_ns);  // held
  EXPECT_EQ(d.load("a1"), 0U);
  EXPECT_EQ(d.queued(0), 0U);
  EXPECT_EQ(d.conversations(), 0U);
  EXPECT_EQ(d.next_deadline_ns(), Dispatcher::kNoDeadline);
}

// -- Limits --

TEST_F(DispatcherTest, RefusesMoreThanItsLimits) {
  for (uint32_t n = 0; n < kAgentsMax; ++n) connect("a" + std::to_string(n), 1);
  EXPECT_FALSE(d.agent_connected("late", Handle(0, 1, 1), {.groups = 1, .capacity = 1}, now_ns));
  for (uint64_t n = 1; n <= kConversationsMax; ++n) open(n);
  EXPECT_FALSE(d.conversation_opened(key(kConversationsMax + 1), 0, 1, 0, now_ns));
  d.closed(key(1), now_ns);
  EXPECT_TRUE(d.conversation_opened(key(kConversationsMax + 1), 0, 1, 0, now_ns));
}

TEST_F(DispatcherTest, UnknownAgentsAreHarmless) {
  presence("nobody", Presence::online);
  d.agent_disconnected("nobody", Handle(0, 1, 1), now_ns);
  EXPECT_EQ(d.load("nobody"), 0U);
  EXPECT_EQ(d.effective_presence("nobody"), Presence::offline);
}

// -- Explaining --

TEST_F(DispatcherTest, EligibleNamesTheFirstRuleThatExcludes) {
  connect("a1", 1);
  open(1);
  EXPECT_EQ(d.eligible(0, key(1)), Exclusion::offline);
  presence("a1", Presence::away);
  EXPECT_EQ(d.eligible(0, key(1)), Exclusion::away);
  presence("a1", Presence::busy);
  EXPECT_EQ(d.eligible(0, key(1)), Exclusion::busy);
  presence("a1", Presence::online, 0);
  EXPECT_EQ(d.eligible(0, key(1)), Exclusion::full);
  EXPECT_EQ(name(Exclusion::full), "full");
}

// -- Positions --

TEST_F(DispatcherTest, PositionsAreToldOncePerTurnAndOnlyWhenChanged) {
  open(1);
  open(2);
  open(3);
  EXPECT_THAT(take(), IsEmpty()) << "not before the end of the turn";
  d.flush_positions();
  EXPECT_THAT(take(), ElementsAre("position 1 1", "position 2 2", "position 3 3"));
  d.flush_positions();
  EXPECT_THAT(take(), IsEmpty());
  d.closed(key(1), now_ns);
  d.closed(key(2), now_ns);
  d.flush_positions();
  EXPECT_THAT(take(), ElementsAre("position 3 1"));
}

TEST_F(DispatcherTest, AConversationThatIsNotQueuedHasNoPosition) {
  online("a1", 1);
  open(1);
  open(2);
  (void)take();
  d.flush_positions();
  EXPECT_THAT(take(), ElementsAre("position 2 1"));
}

TEST_F(DispatcherTest, AFarNewcomerIsToldItsPlaceAtOnceAndAFlushIsBounded) {
  for (uint64_t n = 1; n <= 1000; ++n) open(n);
  EXPECT_EQ(take().back(), "position 1000 1000");
  d.flush_positions();
  EXPECT_EQ(take().size(), Dispatcher::kNearPositions) << "far ones were told at opening and have not moved";
  d.closed(key(1), now_ns);
  d.flush_positions();
  EXPECT_LE(take().size(), Dispatcher::kNearPositions + Dispatcher::kFarPositionsPerFlush);
}

// -- Memory --

TEST_F(DispatcherTest, SteadyStateAllocatesNothing) {
  for (const char* id : {"a1", "a2"}) online(id, 3);
  const auto round = [&](uint64_t base) {
    for (uint64_t n = base; n < base + 50; ++n) open(n);
    d.declined(key(base), 1, now_ns);
    pass(kAcceptSeconds);
    disconnect("a1");
    pass(31);
    connect("a1", 3);
    for (uint64_t n = base; n < base + 50; ++n) d.closed(key(n), now_ns);
    d.flush_positions();
    d.clear_effects();
  };
  round(1);
  const uint64_t allocations = memory.allocations();
  for (uint64_t i = 1; i < 20; ++i) round(1 + 100 * i);
  EXPECT_EQ(memory.allocations(), allocations);
}

TEST(DispatcherMemory, GivesEverythingBack) {
  CountingResource memory;
  {
    Dispatcher d({.groups = 2}, memory);
    ASSERT_TRUE(d.agent_connected("a1", Handle(0, 1, 1), {.groups = 3, .capacity = 1}, 0));
    d.agent_presence("a1", Presence::online, Dispatcher::kTokenCapacity, 0);
    ASSERT_TRUE(d.conversation_opened(Handle(0, 1, 1), 0, 1, 0, 0));
    ASSERT_TRUE(d.conversation_opened(Handle(0, 1, 2), 1, 1, 0, 0));
    d.declined(Handle(0, 1, 1), 1, 0);
    d.agent_disconnected("a1", Handle(0, 1, 1), 0);
  }
  EXPECT_EQ(memory.bytes_in_use(), 0U);
}

}  // namespace
}  // namespace taut::chat
