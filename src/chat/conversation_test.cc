#include "chat/conversation.h"

#include <gtest/gtest.h>

#include "chat/conversation_fixture.h"

namespace taut::chat {
namespace {

class ConversationTest : public ConversationFixture, public testing::Test {};

// -- Order --

TEST_F(ConversationTest, OpensWithEventOneOfEpochOne) {
  const Change change = c.open();
  EXPECT_TRUE(change.changed);
  EXPECT_EQ(change.event, EventKind::opened);
  EXPECT_EQ(change.epoch, 1U);
  EXPECT_EQ(change.seq, 1U);
  append(change);
  EXPECT_EQ(c.state(), ConversationState::queued);
  EXPECT_EQ(c.last_seq(), 1U);
}

TEST_F(ConversationTest, MessagesAndEventsShareOneSequenceWithoutHoles) {
  open_active("a1");  // opened, assigned, accepted
  EXPECT_EQ(say(visitor(), 1).seq, 4U);
  EXPECT_EQ(say(agent("a1"), 2).seq, 5U);
  const Change close = c.close(visitor());
  EXPECT_EQ(close.seq, 6U);
  append(close);
  for (uint64_t seq = 1; seq <= 6; ++seq) EXPECT_EQ(c.items().at(seq).epoch, 1U);
  EXPECT_EQ(c.items().at(3).event, EventKind::accepted);
  EXPECT_EQ(c.items().at(4).kind, ItemKind::text);
  EXPECT_EQ(c.items().at(6).kind, ItemKind::event);
}

TEST_F(ConversationTest, ADecidedSendThatIsNotAppendedLeavesNoTrace) {
  open_assigned("a1");
  const SendDecision first = c.on_send(agent("a1"), id_hash(1), 1, ItemKind::text);
  EXPECT_TRUE(first.accepts);
  EXPECT_EQ(c.state(), ConversationState::assigned);
  const SendDecision second = c.on_send(visitor(), id_hash(1), 1, ItemKind::text);
  EXPECT_EQ(second.seq, c.last_seq() + 1);
  EXPECT_FALSE(second.dup);
}

// -- Repeats --

TEST_F(ConversationTest, ARepeatGetsTheFirstAnswerAndNothingIsAppended) {
  open_active("a1");
  const SendDecision first = say(visitor(), 1, 10, 777);
  const SendDecision again = c.on_send(visitor(), id_hash(1), 10, ItemKind::text);
  EXPECT_EQ(again.code, Code::ok);
  EXPECT_TRUE(again.dup);
  EXPECT_EQ(again.epoch, first.epoch);
  EXPECT_EQ(again.seq, first.seq);
  EXPECT_EQ(again.ts_ms, 777);
}

TEST_F(ConversationTest, TheSameIdWithAnotherBodyIsAConflict) {
  open_active("a1");
  (void)say(visitor(), 1, 10);
  EXPECT_EQ(c.on_send(visitor(), id_hash(1), 11, ItemKind::text).code, Code::id_conflict);
}

TEST_F(ConversationTest, TheSameIdFromAnotherSenderIsAnotherMessage) {
  open_active("a1");
  (void)say(visitor(), 1, 10);
  EXPECT_FALSE(say(agent("a1"), 1, 10).dup);
  EXPECT_FALSE(say({.kind = PartyKind::system, .id = "a1"}, 1, 10).dup);
}

TEST_F(ConversationTest, ARepeatIsAnsweredBeforeClosedAndNotYours) {
  open_active("a1");
  const SendDecision first = say(agent("a1"), 1, 10);
  append(c.apply(Requeue{.opening = 1, .owner_epoch = 2, .reason = Reason::offline}));
  EXPECT_EQ(c.on_send(agent("a1"), id_hash(1), 10, ItemKind::text).seq, first.seq);
  EXPECT_EQ(c.on_send(agent("a1"), id_hash(2), 10, ItemKind::text).code, Code::not_yours);
  append(c.close(visitor()));
  EXPECT_TRUE(c.on_send(agent("a1"), id_hash(1), 10, ItemKind::text).dup);
  EXPECT_EQ(c.on_send(agent("a1"), id_hash(1), 99, ItemKind::text).code, Code::id_conflict);
  EXPECT_EQ(c.on_send(agent("a1"), id_hash(2), 10, ItemKind::text).code, Code::closed);
}

TEST_F(ConversationTest, RepeatsAreKnownAfterTheirItemsHaveLeftMemory) {
  open_active("a1");
  const SendDecision first = say(visitor(), 1);
  for (uint64_t n = 2; n < 2 + kItemsMax; ++n) (void)say(visitor(), n);
  EXPECT_GT(c.items().first_seq(), first.seq);
  EXPECT_EQ(c.on_send(visitor(), id_hash(1), 0, ItemKind::text).seq, first.seq);
}

TEST_F(ConversationTest, ItemsDroppedBeforeTheirTimeAreMissingInFrontAndNothingElseChanges) {
  open();
  for (uint64_t n = 1; n < 10; ++n) (void)say(visitor(), n);
  for (int i = 0; i < 4; ++i) release(c.drop_oldest_item());
  EXPECT_EQ(c.items().first_seq(), 5U);
  EXPECT_EQ(c.items().size(), 6U);
  EXPECT_EQ(c.items().size(), bodies_held());
  EXPECT_EQ(c.items().at(5).kind, ItemKind::text);
  EXPECT_EQ(c.plan_resume(1, 2).gaps[0].to, 4U);
  for (uint64_t n = 10; n <= kItemsMax + 2; ++n) {
    (void)say(visitor(), n);
    ASSERT_EQ(c.items().size(), bodies_held());
  }
  EXPECT_EQ(c.last_seq(), kItemsMax + 3U);
  EXPECT_EQ(c.items().first_seq(), 5U) << "until it holds as many items as it may";
  (void)say(visitor(), kItemsMax + 3);
  EXPECT_EQ(c.items().first_seq(), 5U);
  (void)say(visitor(), kItemsMax + 4);
  EXPECT_EQ(c.items().first_seq(), 6U);
  EXPECT_EQ(c.items().size(), kItemsMax);
  while (void* body = c.drop_oldest_item()) release(body);
  EXPECT_EQ(c.items().first_seq(), c.last_seq());
}

// -- Who may send --

TEST_F(ConversationTest, AVisitorMaySendTextInEveryStateButClosed) {
  open();
  EXPECT_EQ(say(visitor(), 1).code, Code::ok);
  assign("a1", 1);
  EXPECT_EQ(say(visitor(), 2).code, Code::ok);
  append(c.accept(agent("a1")));
  EXPECT_EQ(say(visitor(), 3).code, Code::ok);
  append(c.close(agent("a1")));
  EXPECT_EQ(c.on_send(visitor(), id_hash(4), 0, ItemKind::text).code, Code::closed);
}

TEST_F(ConversationTest, AVisitorMayNotSendNotes) {
  open();
  EXPECT_EQ(c.on_send(visitor(), id_hash(1), 0, ItemKind::note).code, Code::forbidden);
}

TEST_F(ConversationTest, AnAgentWhoDoesNotOwnItMaySendOnlyNotesAndOnlyInItsGroup) {
  open_active("a1");
  EXPECT_EQ(c.on_send(agent("a2"), id_hash(1), 0, ItemKind::text).code, Code::not_yours);
  EXPECT_EQ(c.on_send(agent("a2"), id_hash(1), 0, ItemKind::note).code, Code::not_yours);
  Party colleague = agent("a2");
  colleague.in_group = true;
  EXPECT_EQ(c.on_send(colleague, id_hash(1), 0, ItemKind::text).code, Code::not_yours);
  EXPECT_EQ(say(colleague, 1, 0, 0, ItemKind::note).code, Code::ok);
  EXPECT_EQ(c.items().at(c.last_seq()).kind, ItemKind::note);
}

TEST_F(ConversationTest, BotsAndTheSystemMaySendUntilItIsClosed) {
  open();
  EXPECT_EQ(say({.kind = PartyKind::bot, .id = "b"}, 1).code, Code::ok);
  EXPECT_EQ(say({.kind = PartyKind::system, .id = "s"}, 1, 0, 0, ItemKind::note).code, Code::ok);
  append(c.close({.kind = PartyKind::system, .id = "s"}));
  EXPECT_EQ(c.on_send({.kind = PartyKind::bot, .id = "b"}, id_hash(2), 0, ItemKind::text).code, Code::closed);
}

TEST_F(ConversationTest, ASendAboutAnEarlierAssignmentIsNotYoursEvenForTheSameAgent) {
  open_assigned("a1");
  append(c.apply(Requeue{.opening = 1, .owner_epoch = 2}));
  assign("a1", 3);
  Party late = agent("a1");
  late.owner_epoch = 1;
  EXPECT_EQ(c.on_send(late, id_hash(1), 0, ItemKind::text).code, Code::not_yours);
  late.owner_epoch = 3;
  EXPECT_EQ(c.on_send(late, id_hash(1), 0, ItemKind::text).code, Code::ok);
}

// -- Accepting --

TEST_F(ConversationTest, ASendByTheAssignedAgentAcceptsAndTheEventComesFirst) {
  open_assigned("a1");
  const uint64_t last = c.last_seq();
  const SendDecision decision = c.on_send(agent("a1"), id_hash(1), 0, ItemKind::text);
  EXPECT_TRUE(decision.accepts);
  EXPECT_EQ(decision.seq, last + 2);
  release(c.append_event(next_body(), 0));
  EXPECT_EQ(c.state(), ConversationState::active);
  release(c.append_message(next_body(), 0));
  EXPECT_EQ(c.items().at(last + 1).event, EventKind::accepted);
  EXPECT_EQ(c.items().at(last + 2).kind, ItemKind::text);
  EXPECT_FALSE(c.on_send(agent("a1"), id_hash(2), 0, ItemKind::text).accepts);
}

TEST_F(ConversationTest, ANoteByAColleagueDoesNotAccept) {
  open_assigned("a1");
  Party colleague = agent("a2");
  colleague.in_group = true;
  EXPECT_FALSE(say(colleague, 1, 0, 0, ItemKind::note).accepts);
  EXPECT_EQ(c.state(), ConversationState::assigned);
}

TEST_F(ConversationTest, AcceptingTwiceIsOkAndAppendsOnce) {
  open_assigned("a1");
  const Change first = c.accept(agent("a1"));
  EXPECT_EQ(first.event, EventKind::accepted);
  append(first);
  const Change second = c.accept(agent("a1"));
  EXPECT_EQ(second.code, Code::ok);
  EXPECT_FALSE(second.changed);
}

TEST_F(ConversationTest, AcceptByAnyoneElseIsNotYoursOrTaken) {
  open();
  EXPECT_EQ(c.accept(agent("a1")).code, Code::not_yours);
  assign("a1", 1);
  EXPECT_EQ(c.accept(agent("a2")).code, Code::not_yours);
  append(c.accept(agent("a1")));
  EXPECT_EQ(c.accept(agent("a2")).code, Code::taken);
  append(c.close(visitor()));
  EXPECT_EQ(c.accept(agent("a1")).code, Code::closed);
}

TEST_F(ConversationTest, WhoDeclinedIsNoLongerListenedTo) {
  open_assigned("a1");
  EXPECT_EQ(c.decline(agent("a2")), Code::not_yours);
  EXPECT_EQ(c.decline(agent("a1")), Code::ok);
  EXPECT_EQ(c.decline(agent("a1")), Code::not_yours);
  EXPECT_EQ(c.accept(agent("a1")).code, Code::not_yours);
  EXPECT_EQ(c.on_send(agent("a1"), id_hash(1), 0, ItemKind::text).code, Code::not_yours);
  const Change requeued = c.apply(Requeue{.opening = 1, .owner_epoch = 2, .reason = Reason::declined});
  EXPECT_EQ(requeued.lost_reason, Reason::declined);
  EXPECT_EQ(requeued.lost.id, "a1");
  append(requeued);
  assign("a1", 3);
  append(c.accept(agent("a1")));
  EXPECT_EQ(c.decline(agent("a1")), Code::taken) << "too late: it was accepted";
}

// -- Decisions --

TEST_F(ConversationTest, AnAssignNamesWhoGetsIt) {
  open();
  const Change change = c.apply(
      Assign{.agent = Handle(1, 1, 5), .agent_index = 0, .opening = 1, .owner_epoch = 1, .accept_ms = 1},
      "a1");
  EXPECT_EQ(change.event, EventKind::assigned);
  EXPECT_TRUE(change.gained);
  EXPECT_FALSE(change.lost.key);
  EXPECT_EQ(change.owner_epoch, 1U);
  append(change);
  EXPECT_EQ(c.owner().key, Handle(1, 1, 5));
  EXPECT_EQ(c.owner().id, "a1");
  EXPECT_TRUE(c.owned_by("a1"));
}

TEST_F(ConversationTest, AnAssignToAnotherTakesItFromTheOwnerWithTheReasonGiven) {
  open_active("a1");
  Assign move{.agent = Handle(1, 1, 6), .opening = 1, .owner_epoch = 2, .reason = Reason::transferred};
  const Change transferred = c.apply(move, "a2");
  EXPECT_EQ(transferred.event, EventKind::transferred);
  EXPECT_EQ(transferred.lost.id, "a1");
  EXPECT_EQ(transferred.lost.owner_epoch, 1U);
  EXPECT_EQ(transferred.lost_reason, Reason::transferred);
  append(transferred);
  EXPECT_EQ(c.state(), ConversationState::assigned);
  EXPECT_EQ(c.on_send(agent("a1"), id_hash(1), 0, ItemKind::text).code, Code::not_yours);
  move.owner_epoch = 3;
  move.reason = Reason::taken;
  const Change taken = c.apply(move, "a3");
  EXPECT_EQ(taken.event, EventKind::assigned);
  EXPECT_EQ(taken.lost.id, "a2");
  EXPECT_EQ(taken.lost_reason, Reason::taken);
  append(taken);
}

TEST_F(ConversationTest, StaleDecisionsChangeNothing) {
  open_assigned("a1", 5);
  const uint64_t last = c.last_seq();
  for (const uint32_t owner_epoch : {1U, 4U, 5U}) {
    EXPECT_FALSE(
        c.apply(Assign{.agent = Handle(1, 1, 6), .opening = 1, .owner_epoch = owner_epoch}, "a2").changed);
    EXPECT_FALSE(c.apply(Requeue{.opening = 1, .owner_epoch = owner_epoch}).changed);
  }
  EXPECT_TRUE(c.owned_by("a1"));
  EXPECT_EQ(c.last_seq(), last);
}

TEST_F(ConversationTest, CloseWinsOverDecisionsInFlight) {
  open();
  append(c.close(visitor()));
  EXPECT_FALSE(c.apply(Assign{.agent = Handle(1, 1, 6), .opening = 1, .owner_epoch = 1}, "a1").changed);
  EXPECT_FALSE(c.apply(Requeue{.opening = 1, .owner_epoch = 2}).changed);
  EXPECT_EQ(c.state(), ConversationState::closed);
}

TEST_F(ConversationTest, ADecisionAboutAnEarlierOpeningIsIgnoredAfterReopening) {
  open();
  append(c.close(visitor()));
  append(c.reopen());
  EXPECT_EQ(c.opening(), 2U);
  EXPECT_FALSE(c.apply(Assign{.agent = Handle(1, 1, 6), .opening = 1, .owner_epoch = 1}, "a1").changed);
  EXPECT_TRUE(c.apply(Assign{.agent = Handle(1, 1, 6), .opening = 2, .owner_epoch = 1}, "a1").changed);
  append_due();
}

TEST_F(ConversationTest, AnOwnerAtANewEndpointStaysTheOwnerWithoutAnEvent) {
  open_assigned("a1");
  const uint64_t last = c.last_seq();
  EXPECT_FALSE(c.apply(OwnerMoved{.agent = Handle(1, 2, 5), .opening = 1, .owner_epoch = 9}));
  EXPECT_TRUE(c.apply(OwnerMoved{.agent = Handle(1, 2, 5), .opening = 1, .owner_epoch = 1}));
  EXPECT_FALSE(c.apply(OwnerMoved{.agent = Handle(1, 2, 5), .opening = 1, .owner_epoch = 1}));
  EXPECT_EQ(c.owner().key, Handle(1, 2, 5));
  EXPECT_EQ(c.last_seq(), last);
}

// -- Closing and reopening --

TEST_F(ConversationTest, ClosingTellsTheOwnerAndHappensOnce) {
  open_active("a1");
  EXPECT_EQ(c.close(agent("a2")).code, Code::not_yours);
  const Change change = c.close(agent("a1"));
  EXPECT_EQ(change.event, EventKind::closed);
  EXPECT_EQ(change.lost.id, "a1");
  EXPECT_EQ(change.lost_reason, Reason::closed);
  append(change);
  EXPECT_FALSE(c.owner().key);
  EXPECT_EQ(c.close(visitor()).code, Code::closed);
}

TEST_F(ConversationTest, ReopeningQueuesItAgainAndGoesOnWithTheSequence) {
  open_active("a1");
  EXPECT_FALSE(c.reopen().changed) << "only a closed one";
  append(c.close(visitor()));
  const uint64_t last = c.last_seq();
  const Change change = c.reopen();
  EXPECT_EQ(change.event, EventKind::reopened);
  EXPECT_EQ(change.seq, last + 1);
  append(change);
  EXPECT_EQ(c.state(), ConversationState::queued);
  EXPECT_EQ(say(visitor(), 50).code, Code::ok);
}

TEST_F(ConversationTest, IsRatedOnceForEachOpeningAndOnlyWhenClosed) {
  open_active("a1");
  EXPECT_EQ(c.rate().code, Code::forbidden);
  append(c.close(visitor()));
  const uint64_t last = c.last_seq();
  const Change first = c.rate();
  EXPECT_TRUE(first.changed);
  EXPECT_EQ(first.event, EventKind::rated);
  EXPECT_EQ(first.seq, last + 1);
  append(first);
  EXPECT_EQ(c.state(), ConversationState::closed);
  const Change again = c.rate();
  EXPECT_EQ(again.code, Code::ok);
  EXPECT_FALSE(again.changed);
  append(c.reopen());
  EXPECT_EQ(c.rate().code, Code::forbidden);
  append(c.close(visitor()));
  const Change next = c.rate();
  EXPECT_TRUE(next.changed);
  append(next);
}

// -- Reading --

TEST_F(ConversationTest, HistoryPagesBackwardsWithoutHolesOrDoubles) {
  open();
  for (uint64_t n = 1; n < 57; ++n) (void)say(visitor(), n);
  uint64_t before = 0;
  uint64_t expected_to = 57;
  for (;;) {
    const Page page = c.history(before, 10);
    EXPECT_EQ(page.to, expected_to);
    EXPECT_LE(page.to - page.from + 1, 10U);
    if (!page.more) {
      EXPECT_EQ(page.from, 1U);
      EXPECT_FALSE(page.evicted);
      break;
    }
    EXPECT_EQ(page.to - page.from + 1, 10U);
    expected_to = page.from - 1;
    before = page.from;
  }
}

TEST_F(ConversationTest, HistoryAtTheEdges) {
  open();
  EXPECT_GT(c.history(1, 10).from, c.history(1, 10).to) << "nothing before the first";
  EXPECT_EQ(c.history(1000, 10).to, 1U) << "before beyond the end";
  EXPECT_GT(c.history(0, 0).from, c.history(0, 0).to);
  for (uint64_t n = 1; n < 400; ++n) (void)say(visitor(), n);
  const Page page = c.history(0, 4000);
  EXPECT_EQ(page.to - page.from + 1, kPageItemsMax);
}

TEST_F(ConversationTest, HistorySaysWhenOlderItemsHaveLeftMemory) {
  open();
  for (uint64_t n = 1; n < uint64_t{3} * kItemsMax; ++n) (void)say(visitor(), n);
  const uint64_t first = c.items().first_seq();
  const Page page = c.history(first + 5, 100);
  EXPECT_EQ(page.from, first);
  EXPECT_FALSE(page.more);
  EXPECT_TRUE(page.evicted);
  EXPECT_TRUE(c.history(first, 100).evicted);
  EXPECT_FALSE(c.history(first + 5, 2).evicted);
  EXPECT_TRUE(c.history(first + 5, 2).more);
}

TEST_F(ConversationTest, ANewEpochGoesOnWithTheSequence) {
  open_active("a1");
  const uint64_t last = c.last_seq();
  c.start_epoch();
  const SendDecision decision = say(visitor(), 1);
  EXPECT_EQ(decision.epoch, 2U);
  EXPECT_EQ(decision.seq, last + 1);
  const ResumePlan plan = c.plan_resume(1, last + 3);
  ASSERT_EQ(plan.gap_count, 1U);
  EXPECT_EQ(plan.gaps[0].from, last + 1);
  EXPECT_EQ(plan.gaps[0].to, last + 3);
  EXPECT_EQ(plan.start, last + 1);
}

TEST_F(ConversationTest, EpochsAreBoundedAndTheOldestBecomesUnknown) {
  open();
  for (uint32_t i = 1; i <= 1000; ++i) {
    (void)say(visitor(), i);
    c.start_epoch();
  }
  EXPECT_EQ(c.epoch(), 1001U);
  EXPECT_EQ(c.plan_resume(1, 1).gaps[0].reason, GapReason::unknown_epoch);
  EXPECT_EQ(c.plan_resume(1000, 1000).gap_count, 0U);
}

// -- Receipts --

TEST_F(ConversationTest, MarksOnlyRiseAndNeverPassTheEnd) {
  open_active("a1");
  EXPECT_EQ(c.mark(Side::visitor, ReceiptLevel::read, 2), MarkResult::moved);
  EXPECT_EQ(c.mark(Side::visitor, ReceiptLevel::read, 2), MarkResult::unchanged);
  EXPECT_EQ(c.mark(Side::visitor, ReceiptLevel::read, 1), MarkResult::unchanged);
  EXPECT_EQ(c.mark(Side::visitor, ReceiptLevel::read, c.last_seq() + 1), MarkResult::beyond_end);
  EXPECT_EQ(c.mark_of(Side::visitor, ReceiptLevel::read), 2U);
  EXPECT_EQ(c.mark_of(Side::agent, ReceiptLevel::read), 0U);
  EXPECT_EQ(c.mark_of(Side::visitor, ReceiptLevel::delivered), 0U);
}

// -- Memory --

TEST_F(ConversationTest, EveryBodyIsHandedBackExactlyOnce) {
  open();
  for (uint64_t n = 1; n < uint64_t{3} * kItemsMax; ++n) (void)say(visitor(), n);
  EXPECT_EQ(bodies_held(), kItemsMax);
  release_all();
  EXPECT_EQ(bodies_held(), 0U);
}

TEST(ConversationDeathTest, AChangeThatWasNotAppendedStopsTheNextRequest) {
  CountingResource memory;
  Conversation conversation("c1", 0, {}, memory);
  (void)conversation.open();
  EXPECT_DEATH((void)conversation.close({}), "event_due_");
}

TEST(ConversationDeathTest, AnUndecidedMessageCannotBeAppended) {
  CountingResource memory;
  Conversation conversation("c1", 0, {}, memory);
  EXPECT_DEATH((void)conversation.append_message(nullptr, 0), "pending_.due");
}

}  // namespace
}  // namespace taut::chat
