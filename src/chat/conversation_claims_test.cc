// A conversation that several agents want, and one that is given away.
#include <gtest/gtest.h>

#include "chat/conversation_fixture.h"

namespace taut::chat {
namespace {

class ConversationClaims : public ConversationFixture, public testing::Test {
 protected:
  /// What the dispatcher says to a take that it grants.
  [[nodiscard]] Assign granted(uint32_t owner_epoch) const {
    return {.agent = Handle(1, 1, 6),
            .opening = c.opening(),
            .owner_epoch = owner_epoch,
            .reason = Reason::taken,
            .accepted = true};
  }
};

TEST_F(ConversationClaims, ATakeThatIsGrantedMakesItActive) {
  open();
  c.contest();
  append(c.apply(granted(1), "a2"));
  EXPECT_EQ(c.state(), ConversationState::assigned);
  append(c.apply_accept(granted(1)));
  EXPECT_EQ(c.state(), ConversationState::active);
  EXPECT_TRUE(c.owned_by("a2"));
}

TEST_F(ConversationClaims, WhileATakeIsUndecidedTheOwnerCannotAccept) {
  open_assigned("a1");
  c.contest();
  EXPECT_TRUE(c.accept(agent("a1")).contested);
  const SendDecision decision = say(agent("a1"), 1);
  EXPECT_TRUE(decision.contested);
  EXPECT_FALSE(decision.accepts);
  EXPECT_EQ(c.state(), ConversationState::assigned);
}

TEST_F(ConversationClaims, TheOwnerAcceptsAgainOnceAllTakesAreRefused) {
  open_assigned("a1");
  c.contest();
  c.contest();
  c.contest_lost();
  EXPECT_TRUE(c.accept(agent("a1")).contested);
  c.contest_lost();
  append(c.accept(agent("a1")));
  EXPECT_EQ(c.state(), ConversationState::active);
}

TEST_F(ConversationClaims, TheOwnerWhoAskedAsWellMayBeTheOneWhoGetsIt) {
  open_assigned("a1");
  c.contest();
  EXPECT_FALSE(c.apply(granted(1), "a1").changed) << "the assignment that it has";
  append(c.apply_accept(granted(1)));
  EXPECT_EQ(c.state(), ConversationState::active);
  c.contest();
  EXPECT_FALSE(c.apply_accept(granted(1)).changed) << "said twice";
}

TEST_F(ConversationClaims, TheOwnerWhoLostItIsToldAndHeardNoMore) {
  open_assigned("a1");
  c.contest();
  const Change change = c.apply(granted(2), "a2");
  EXPECT_EQ(change.lost.id, "a1");
  EXPECT_EQ(change.lost_reason, Reason::taken);
  EXPECT_EQ(change.event, EventKind::assigned);
  append_due();
  append(c.apply_accept(granted(2)));
  EXPECT_EQ(c.accept(agent("a1")).code, Code::taken);
  EXPECT_EQ(say(agent("a1"), 1).code, Code::not_yours);
}

TEST_F(ConversationClaims, AGrantForAnEarlierOpeningChangesNothing) {
  open();
  c.contest();
  const Assign late = granted(1);
  append(c.close(visitor()));
  append(c.reopen());
  EXPECT_FALSE(c.apply(late, "a2").changed);
  EXPECT_FALSE(c.apply_accept(late).changed);
  EXPECT_EQ(c.state(), ConversationState::queued);
  assign("a1", 2);
  append(c.accept(agent("a1")));
}

TEST_F(ConversationClaims, OnlyItsOwnerMayGiveItAway) {
  open();
  EXPECT_EQ(c.may_act(agent("a1")), Code::not_yours);
  assign("a1", 1);
  EXPECT_EQ(c.may_act(agent("a1")), Code::ok) << "accepted or not";
  EXPECT_EQ(c.may_act(agent("a2")), Code::not_yours);
  Party earlier = agent("a1");
  earlier.owner_epoch = 7;
  EXPECT_EQ(c.may_act(earlier), Code::not_yours);
  append(c.close(visitor()));
  EXPECT_EQ(c.may_act(agent("a1")), Code::closed);
}

TEST_F(ConversationClaims, AGroupThatItWasGivenToIsItsGroup) {
  open_active("a1");
  const Change change =
      c.apply(Requeue{.group = 3, .opening = c.opening(), .owner_epoch = 2, .reason = Reason::transferred});
  EXPECT_EQ(change.event, EventKind::transferred);
  EXPECT_EQ(change.lost.id, "a1");
  EXPECT_EQ(change.lost_reason, Reason::transferred);
  append_due();
  EXPECT_EQ(c.group(), 3U);
  EXPECT_EQ(c.state(), ConversationState::queued);
}

// The old agent went on receiving after a transfer.
TEST_F(ConversationClaims, AfterATransferTheOldAgentsLateSendsAreNotItsOwn) {
  open_active("a1");
  const Change change =
      c.apply(Assign{.agent = Handle(1, 1, 6), .opening = c.opening(), .owner_epoch = 2}, "a2");
  EXPECT_EQ(change.event, EventKind::transferred);
  EXPECT_EQ(change.lost.id, "a1");
  append_due();
  EXPECT_EQ(say(agent("a1"), 1).code, Code::not_yours);
  EXPECT_EQ(c.state(), ConversationState::assigned) << "it needs an accept";
}

}  // namespace
}  // namespace taut::chat
