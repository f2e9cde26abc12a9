// Working hours, and what overflows into another group.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "chat/dispatcher.h"
#include "chat/dispatcher_fixture.h"

namespace taut::chat {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr GroupSet kSales = group_bit(0);
constexpr GroupSet kSupport = group_bit(1);

class DispatcherHours : public DispatcherFixture, public testing::Test {
 protected:
  using DispatcherFixture::DispatcherFixture;
  void online(const std::string& id, GroupSet groups, uint32_t capacity = 1) {
    connect(id, capacity, groups);
    presence(id, Presence::online);
  }
  void open_group(GroupId group) { d.group_hours(group, true, now_ns); }
  void close_group(GroupId group) { d.group_hours(group, false, now_ns); }
  /// The rule that excludes the agent who came `index`-th.
  [[nodiscard]] Exclusion why(uint32_t index, uint64_t n) const { return d.eligible(index, key(n)); }
};

TEST_F(DispatcherHours, AClosedGroupAssignsNothingAndItsOpeningAtOnceTheOldest) {
  online("a1", kSales);
  close_group(0);
  open(1);
  open(2);
  EXPECT_EQ(why(0, 1), Exclusion::closed);
  EXPECT_THAT(take(), IsEmpty());
  open_group(0);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1"));
}

TEST_F(DispatcherHours, WhoIsClosedAndGoneIsExcludedByTheHoursFirst) {
  online("a1", kSales);
  close_group(0);
  open(1);
  disconnect("a1");
  EXPECT_EQ(why(0, 1), Exclusion::closed);
  open_group(0);
  EXPECT_EQ(why(0, 1), Exclusion::disconnected);
}

TEST_F(DispatcherHours, AgentsTakeFromAClosedGroupAndKeepWhatTheyHave) {
  online("a1", kSales, 2);
  open(1);
  close_group(0);
  open(2);
  EXPECT_EQ(d.take(key(2), "a1", now_ns), Code::ok);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1", "assign 2 a1 #1 accepted"));
  pass(kAcceptSeconds);
  EXPECT_THAT(take(), ElementsAre("requeue 1 timeout #2"));
  online("a2", kSales);
  EXPECT_THAT(take(), IsEmpty()) << "it waits for the opening";
}

TEST_F(DispatcherHours, HoursOfOneGroupAreNotThoseOfAnother) {
  online("a1", kSales | kSupport);
  close_group(0);
  open(1);
  open(2, 1);
  EXPECT_THAT(take(), ElementsAre("assign 2 a1 #1"));
}

TEST_F(DispatcherHours, WithoutOverflowNobodyElseGetsIt) {
  online("b1", kSupport);
  close_group(0);
  open(1);
  pass(100'000);
  EXPECT_EQ(why(0, 1), Exclusion::not_in_group);
  EXPECT_THAT(take(), IsEmpty());
}

class DispatcherOverflow : public DispatcherHours {
 protected:
  static constexpr int64_t kAfterSeconds = 120;
  DispatcherOverflow() : DispatcherHours(kAfterSeconds * kSecond) {}
};

TEST_F(DispatcherOverflow, WhatWaitedLongEnoughGoesToTheOtherGroupAtThatVeryMoment) {
  online("b1", kSupport, 5);
  open(1);
  pass(60);
  open(2);
  EXPECT_EQ(d.next_deadline_ns(), now_ns + 60 * kSecond);
  pass(59);
  EXPECT_EQ(why(0, 1), Exclusion::not_in_group);
  EXPECT_THAT(take(), IsEmpty());
  pass(1);
  EXPECT_THAT(take(), ElementsAre("assign 1 b1 #1"));
  EXPECT_EQ(d.next_deadline_ns(), now_ns + kAcceptSeconds * kSecond);
  accept(1, 1);
  pass(60);
  EXPECT_THAT(take(), ElementsAre("assign 2 b1 #1"));
}

TEST_F(DispatcherOverflow, AgentsOfItsOwnGroupComeFirst) {
  open(1);
  pass(kAfterSeconds);
  connect("b1", 9, kSupport);
  connect("a1", 1, kSales);
  close_group(0);
  close_group(1);
  presence("b1", Presence::online);
  presence("a1", Presence::online);
  open_group(0);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1"));
}

TEST_F(DispatcherOverflow, AClosedGroupOverflowsAtOnceAndKeepsTheOrder) {
  online("b1", kSupport);
  open(1);
  open(2, 1);
  EXPECT_THAT(take(), ElementsAre("assign 2 b1 #1"));
  open(3, 1);
  close_group(0);
  EXPECT_THAT(take(), IsEmpty());
  d.closed(key(2), now_ns);
  EXPECT_THAT(take(), ElementsAre("assign 1 b1 #1")) << "the oldest of all that it may get";
}

TEST_F(DispatcherOverflow, TheOtherGroupMustBeOpenToo) {
  online("b1", kSupport);
  close_group(0);
  close_group(1);
  open(1);
  EXPECT_EQ(why(0, 1), Exclusion::closed);
  open_group(1);
  EXPECT_THAT(take(), ElementsAre("assign 1 b1 #1"));
}

TEST_F(DispatcherOverflow, WhoDoesNotAnswerGivesItBackToItsOwnQueueAtItsOldPlace) {
  online("b1", kSupport);
  open(1);
  open(2);
  pass(kAfterSeconds);
  EXPECT_THAT(take(), ElementsAre("assign 1 b1 #1"));
  d.declined(key(1), 1, now_ns);
  EXPECT_THAT(take(), ElementsAre("requeue 1 declined #2", "assign 2 b1 #1"));
  EXPECT_EQ(d.queued(0), 1U);
  online("a1", kSales);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #3"));
}

TEST_F(DispatcherOverflow, ItDoesNotGoOnToAThirdGroupAndTakesNobodyIn) {
  online("c1", group_bit(2));
  online("b1", kSupport);
  close_group(1);
  open(1, 1);
  open(2);
  pass(2 * kAfterSeconds);
  EXPECT_THAT(take(), IsEmpty()) << "support overflows nowhere, sales only into what is closed";
  EXPECT_EQ(d.take(key(2), "b1", now_ns), Code::not_yours) << "an offer is no membership";
}

TEST_F(DispatcherOverflow, AnOfferThatOverflowedIsOnesOwn) {
  online("b1", kSupport);
  close_group(0);
  open(1);
  EXPECT_EQ(d.take(key(1), "b1", now_ns), Code::ok);
  EXPECT_THAT(take(), ElementsAre("assign 1 b1 #1", "assign 1 b1 #1 accepted"));
}

TEST_F(DispatcherOverflow, AConversationThatIsGivenToTheGroupCountsFromItsOwnOpening) {
  online("b1", kSupport);
  connect("b2", 1, kSupport);
  open(1, 1);
  accept(1, 1);
  pass(kAfterSeconds);
  d.clear_effects();
  ASSERT_EQ(d.transfer_to_group(key(1), 1, 0, now_ns), Code::ok);
  EXPECT_EQ(why(0, 1), Exclusion::held);
  presence("b2", Presence::online);
  EXPECT_THAT(take(), ElementsAre("requeue 1 transferred #2", "assign 1 b2 #3"));
}

TEST_F(DispatcherOverflow, TheExplanationNamesTheAgentsOfBothGroups) {
  connect("a1", 1, kSales);
  connect("b1", 1, kSupport);
  connect("c1", 1, group_bit(2));
  open(1);
  std::vector<Dispatcher::Explained> page(9);
  const auto rules = [&] {
    std::vector<Exclusion> found;
    const Dispatcher::Explanation e = d.explain(key(1), 0, page);
    found.reserve(found.size() + e.count);
    for (uint32_t i = 0; i < e.count; ++i) found.push_back(page[i].exclusion);
    return found;
  };
  EXPECT_THAT(rules(), ElementsAre(Exclusion::offline, Exclusion::not_in_group));
  close_group(0);
  EXPECT_THAT(rules(), ElementsAre(Exclusion::closed, Exclusion::offline));
}

}  // namespace
}  // namespace taut::chat
