// How long a conversation will wait, and the agent whom its visitor knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "chat/dispatcher.h"
#include "chat/dispatcher_fixture.h"

namespace taut::chat {
namespace {

using testing::ElementsAre;

class DispatcherWaits : public DispatcherFixture, public testing::Test {
 protected:
  /// Opens a conversation, lets it wait, and has it taken and closed.
  void wait_once(uint64_t n, int64_t seconds, GroupId group = 0) {
    open(n, group);
    pass(seconds);
    ASSERT_EQ(d.take(key(n), "taker", now_ns), Code::ok);
    d.closed(key(n), now_ns);
    d.clear_effects();
  }
  /// What the visitor of a conversation is told now.
  std::optional<uint64_t> eta_of(uint64_t n) {
    d.flush_positions();
    std::optional<uint64_t> eta;
    for (const Effect& effect : d.effects()) {
      const auto* position = std::get_if<Position>(&effect);
      if (position != nullptr && position->conversation == key(n) && position->has_eta)
        eta = position->eta_ms;
    }
    d.clear_effects();
    return eta;
  }
  void SetUp() override { connect("taker", 1, group_bit(0) | group_bit(1)); }
};

TEST_F(DispatcherWaits, TheEstimateIsTheMedianWaitTimesThePosition) {
  for (const int64_t seconds : {10, 2, 4, 100, 6}) wait_once(1, seconds);
  open(2);
  open(3);
  d.flush_positions();
  std::vector<uint64_t> told;
  for (const Effect& effect : d.effects()) told.push_back(std::get<Position>(effect).eta_ms);
  EXPECT_THAT(told, ElementsAre(6'000U, 12'000U));
}

TEST_F(DispatcherWaits, BelowFiveWaitsNothingIsSaid) {
  for (int i = 0; i < 4; ++i) wait_once(1, 3);
  open(2);
  EXPECT_EQ(eta_of(2), std::nullopt);
  d.closed(key(2), now_ns);
  wait_once(1, 3);
  open(2);
  EXPECT_EQ(eta_of(2), 3'000U);
}

TEST_F(DispatcherWaits, EachGroupHasItsOwn) {
  for (int i = 0; i < 5; ++i) wait_once(1, 3, 1);
  open(2, 0);
  EXPECT_EQ(eta_of(2), std::nullopt);
  open(3, 1);
  EXPECT_EQ(eta_of(3), 3'000U);
}

TEST_F(DispatcherWaits, WhoFoundAnAgentAtOnceHasNotWaited) {
  online("a1", 50);
  for (uint64_t n = 1; n <= 10; ++n) open(n);
  presence("a1", Presence::away);
  open(11);
  EXPECT_EQ(eta_of(11), std::nullopt);
}

TEST_F(DispatcherWaits, TheFamiliarAgentComesBeforeTheLeastLoaded) {
  online("a1", 3);
  online("a2", 3);
  open(1);  // to a1
  ASSERT_TRUE(d.conversation_opened(key(2), 0, 1, 0, now_ns, 1));
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1", "assign 2 a1 #1")) << "taker is agent 0";
}

TEST_F(DispatcherWaits, AFamiliarAgentWhoIsFullOrAwayIsNotWaitedFor) {
  online("a1", 1);
  online("a2", 3);
  presence("a1", Presence::away);
  ASSERT_TRUE(d.conversation_opened(key(1), 0, 1, 0, now_ns, 1));
  EXPECT_THAT(take(), ElementsAre("assign 1 a2 #1"));
  presence("a1", Presence::online);
  open(2);  // to a1, which is full now
  ASSERT_TRUE(d.conversation_opened(key(3), 0, 1, 0, now_ns, 1));
  EXPECT_THAT(take(), ElementsAre("assign 2 a1 #1", "assign 3 a2 #1"));
}

TEST_F(DispatcherWaits, AFamiliarAgentWhoDeclinedIsNotAskedAgain) {
  online("a1", 3);
  online("a2", 3);
  ASSERT_TRUE(d.conversation_opened(key(1), 0, 1, 0, now_ns, 1));
  d.declined(key(1), 1, now_ns);
  EXPECT_THAT(take(), ElementsAre("assign 1 a1 #1", "requeue 1 declined #2", "assign 1 a2 #3"));
}

}  // namespace
}  // namespace taut::chat
