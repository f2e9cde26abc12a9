#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "chat/conversation_fixture.h"
#include "chat/conversation_journal.h"

namespace taut::chat {
namespace {

constexpr uint32_t kRestoredItemsMax = 8192;

class ConversationRestoreTest : public testing::Test {
 protected:
  /// The event as the next item of the current epoch.
  std::string event(EventKind kind, uint32_t owner_epoch, std::string_view agent = {},
                    GroupId group = kNoGroup) {
    return said(RestoredEvent{.epoch = c.epoch(),
                              .seq = c.last_seq() + 1,
                              .event = kind,
                              .agent = agent,
                              .group = group,
                              .owner_epoch = owner_epoch});
  }
  /// What restore_event() says of it; empty: it was taken.
  std::string said(const RestoredEvent& what) {
    const Result<void*> taken = c.restore_event(what, nullptr);
    return taken ? "" : taken.error().message;
  }
  std::string message(uint64_t id, uint64_t body_hash = 0) {
    return said(RestoredMessage{.epoch = c.epoch(),
                                .seq = c.last_seq() + 1,
                                .ts_ms = static_cast<int64_t>(id),
                                .sender_id = "v1",
                                .id = id_hash(id),
                                .body_hash = body_hash});
  }
  std::string said(const RestoredMessage& what) {
    const Result<void*> taken = c.restore_message(what, nullptr);
    return taken ? "" : taken.error().message;
  }
  void open() { EXPECT_EQ(event(EventKind::opened, 0, {}, 0), ""); }
  void open_assigned() {
    open();
    EXPECT_EQ(event(EventKind::assigned, 1, "a1"), "");
  }
  void open_active() {
    open_assigned();
    EXPECT_EQ(event(EventKind::accepted, 1, "a1"), "");
  }

  Restored restored{kRestoredItemsMax};
  Conversation& c = restored.machine;
  const Party a1{.kind = PartyKind::agent, .id = "a1"};
};

TEST_F(ConversationRestoreTest, TheOwnerOwnsItWithoutAnEndpointUntilItHasOne) {
  open_active();
  EXPECT_EQ(c.state(), ConversationState::active);
  EXPECT_TRUE(c.owned_by("a1"));
  EXPECT_FALSE(c.owner().key);
  EXPECT_EQ(c.on_send(a1, id_hash(1), 0, ItemKind::text).code, Code::ok);
  EXPECT_TRUE(c.apply(OwnerMoved{.agent = Handle(1, 1, 5), .opening = 1, .owner_epoch = 1}));
  EXPECT_EQ(c.owner().key, Handle(1, 1, 5));
}

TEST_F(ConversationRestoreTest, AnOwnerWithoutAnEndpointLosesItByNameAndNobodyIsTold) {
  open_active();
  const Change change = c.apply(Requeue{.opening = 1, .owner_epoch = 2, .reason = Reason::offline});
  EXPECT_EQ(change.lost.id, "a1");
  EXPECT_FALSE(change.lost.key);
  (void)c.append_event(nullptr, 0);
  EXPECT_FALSE(c.owner());
}

TEST_F(ConversationRestoreTest, ATransferFromAnOwnerWithoutAnEndpointIsOne) {
  open_active();
  const Change change = c.apply(
      Assign{.agent = Handle(1, 1, 6), .opening = 1, .owner_epoch = 2, .reason = Reason::transferred}, "a2");
  EXPECT_EQ(change.event, EventKind::transferred);
  (void)c.append_event(nullptr, 0);
}

TEST_F(ConversationRestoreTest, WhatWaitsIsInTheGroupThatGotItLast) {
  open_active();
  EXPECT_EQ(event(EventKind::transferred, 2, {}, 2), "");
  EXPECT_EQ(c.state(), ConversationState::queued);
  EXPECT_EQ(c.group(), 2U);
  EXPECT_FALSE(c.owner());
  EXPECT_EQ(c.owner_epoch(), 2U);
}

TEST_F(ConversationRestoreTest, ReopeningsAndRatingsAreCounted) {
  open_active();
  EXPECT_EQ(event(EventKind::closed, 1, "a1"), "");
  EXPECT_EQ(event(EventKind::rated, 1), "");
  EXPECT_TRUE(c.rated());
  EXPECT_FALSE(c.rate().changed);
  EXPECT_EQ(event(EventKind::reopened, 1, {}, 0), "");
  EXPECT_EQ(c.opening(), 2U);
  EXPECT_FALSE(c.rated());
  EXPECT_FALSE(c.apply(Assign{.agent = Handle(1, 1, 5), .opening = 1, .owner_epoch = 2}, "a2").changed);
}

TEST_F(ConversationRestoreTest, WhatDoesNotFollowIsRefusedAndNothingHasChanged) {
  EXPECT_EQ(event(EventKind::accepted, 0, "a1"), "accepted: the conversation is opened first, and once");
  EXPECT_EQ(message(1), "a message before the conversation was opened");
  open();
  EXPECT_EQ(event(EventKind::opened, 0, {}, 0), "opened: the conversation is opened first, and once");
  EXPECT_EQ(said(RestoredEvent{.epoch = 1, .seq = 3, .event = EventKind::closed}), "seq 3 does not follow 1");
  EXPECT_EQ(said(RestoredEvent{.epoch = 1, .seq = 1, .event = EventKind::closed}), "seq 1 does not follow 1");
  EXPECT_EQ(said(RestoredEvent{.epoch = 2, .seq = 2, .event = EventKind::closed}), "epoch 2 where 1 is due");
  EXPECT_EQ(said(RestoredMessage{.epoch = 1, .seq = 5, .sender_id = "v1"}), "seq 5 does not follow 1");
  EXPECT_EQ(event(EventKind::accepted, 0, "a1"), "accepted: not assigned to that agent");
  EXPECT_EQ(event(EventKind::assigned, 1), "assigned: nobody gets it");
  EXPECT_EQ(event(EventKind::transferred, 1, "a1"), "transferred: nobody had it");
  EXPECT_EQ(event(EventKind::requeued, 1), "requeued: no group gets it");
  EXPECT_EQ(event(EventKind::assigned, 0, "a1"), "assigned: its owner_epoch is not a new one");
  EXPECT_EQ(event(EventKind::reopened, 0, {}, 0), "reopened: the conversation is open");
  EXPECT_EQ(event(EventKind::rated, 0), "rated: the conversation is open, or was rated");
  EXPECT_EQ(event(EventKind::note_hidden, 0), "note_hidden: never an item");
  EXPECT_EQ(event(EventKind::closed, 7), "closed: its owner_epoch is not the conversation's");
  EXPECT_EQ(c.state(), ConversationState::queued);
  EXPECT_EQ(event(EventKind::assigned, 1, "a1"), "");
  EXPECT_EQ(event(EventKind::accepted, 1, "a2"), "accepted: not assigned to that agent");
  EXPECT_EQ(event(EventKind::closed, 1), "");
  EXPECT_EQ(event(EventKind::closed, 1), "closed: the conversation is closed");
  EXPECT_EQ(event(EventKind::assigned, 2, "a1"), "assigned: the conversation is closed");
  EXPECT_EQ(message(1), "a message while the conversation is closed");
  EXPECT_EQ(c.last_seq(), 3U);
}

TEST_F(ConversationRestoreTest, AnIdThatWasThereIsRefusedWhateverItsBody) {
  open();
  EXPECT_EQ(message(1, 10), "");
  EXPECT_EQ(message(1, 10), "a message whose client_msg_id was there before");
  EXPECT_EQ(message(1, 11), "a message whose client_msg_id was there before");
  EXPECT_EQ(c.last_seq(), 2U);
}

TEST_F(ConversationRestoreTest, AsManyIdsAreRememberedAsLiveAndTheOldestForgotten) {
  open();
  for (uint64_t id = 1; id <= DedupWindow::kIds + 2; ++id) ASSERT_EQ(message(id, id), "");
  const Party visitor = ConversationFixture::visitor();
  EXPECT_FALSE(c.on_send(visitor, id_hash(2), 2, ItemKind::text).dup);
  const SendDecision oldest = c.on_send(visitor, id_hash(3), 3, ItemKind::text);
  EXPECT_TRUE(oldest.dup);
  EXPECT_EQ(oldest.seq, 4U);
  EXPECT_EQ(oldest.ts_ms, 3);
  EXPECT_EQ(c.on_send(visitor, id_hash(3), 4, ItemKind::text).code, Code::id_conflict);
}

TEST_F(ConversationRestoreTest, ItemsBeyondTheirNumberFallOut) {
  Restored small(3);
  std::vector<uintptr_t> evicted;
  for (uintptr_t seq = 1; seq <= 5; ++seq) {
    void* const body = reinterpret_cast<void*>(seq);
    const Result<void*> taken =
        seq == 1 ? small.machine.restore_event({.epoch = 1, .seq = 1, .group = 0}, body)
                 : small.machine.restore_message(
                       {.epoch = 1, .seq = seq, .sender_id = "v1", .id = id_hash(seq)}, body);
    ASSERT_TRUE(taken.has_value());
    if (*taken != nullptr) evicted.push_back(reinterpret_cast<uintptr_t>(*taken));
  }
  EXPECT_EQ(evicted, (std::vector<uintptr_t>{1, 2}));
  EXPECT_EQ(small.machine.items().first_seq(), 3U);
}

// -- Epochs --

TEST_F(ConversationRestoreTest, EveryStartTakesAnEpochOfItsOwn) {
  open();
  c.start_epoch();
  c.start_epoch();
  EXPECT_EQ(c.epoch(), 3U);
  EXPECT_EQ(said(RestoredEvent{.epoch = 1, .seq = 2, .event = EventKind::closed}), "epoch 1 where 3 is due");
  EXPECT_EQ(message(1), "");
  EXPECT_EQ(c.items().at(2).epoch, 3U);
}

TEST_F(ConversationRestoreTest, ACursorOfAnEpochWithoutItemsIsKnownAfterAnyNumberOfThem) {
  open();
  EXPECT_EQ(message(1), "");
  constexpr uint32_t kStarts = 10'000;
  for (uint32_t i = 0; i < kStarts; ++i) c.start_epoch();
  for (uint32_t epoch = 1; epoch <= kStarts + 1; epoch += 77) {
    const ResumePlan valid = c.plan_resume(epoch, 2);
    ASSERT_EQ(valid.gap_count, 0U) << epoch;
    ASSERT_EQ(valid.start, 3U);
    const ResumePlan undone = c.plan_resume(epoch, 4);
    ASSERT_EQ(undone.gap_count, 1U);
    ASSERT_EQ(undone.gaps[0].reason, GapReason::ahead);
    ASSERT_EQ(undone.gaps[0].from, 3U);
  }
  EXPECT_LT(restored.memory.largest(), 64U * 1024);
}

TEST_F(ConversationRestoreTest, AnEpochWithItemsEndsAtItsOwnLastItem) {
  open();
  c.start_epoch();
  c.start_epoch();  // 2 is empty
  EXPECT_EQ(message(1), "");
  c.start_epoch();  // 3 has ended at 2
  c.start_epoch();  // 4 is empty
  EXPECT_EQ(message(2), "");
  const std::vector<std::pair<uint32_t, uint64_t>> ends{{1, 1}, {2, 1}, {3, 2}, {4, 2}, {5, 3}};
  for (const auto& [epoch, last] : ends) {
    EXPECT_EQ(c.plan_resume(epoch, last).gap_count, 0U) << epoch;
    EXPECT_EQ(c.plan_resume(epoch, last).start, last + 1) << epoch;
    EXPECT_EQ(c.plan_resume(epoch, last + 1).gap_count, 1U) << epoch;
    EXPECT_EQ(c.plan_resume(epoch, last + 1).gaps[0].reason, GapReason::ahead) << epoch;
  }
  EXPECT_EQ(c.plan_resume(6, 1).gaps[0].reason, GapReason::unknown_epoch);
}

// -- Copies --

TEST_F(ConversationRestoreTest, ACopyIsTheSameWithBodiesOfItsOwn) {
  open_active();
  EXPECT_EQ(message(1, 5), "");
  EXPECT_EQ(c.mark(Side::agent, ReceiptLevel::read, 4), MarkResult::moved);
  c.start_epoch();
  Restored copied(kRestoredItemsMax);
  uint64_t bodies = 0;
  copied.machine.copy(c, [&bodies](const Item&) { return reinterpret_cast<void*>(++bodies); });
  EXPECT_EQ(bodies, 4U);
  EXPECT_EQ(copied.machine.items().at(4).body, reinterpret_cast<void*>(uintptr_t{4}));
  EXPECT_TRUE(copied.machine.owned_by("a1"));
  EXPECT_EQ(copied.machine.epoch(), 2U);
  EXPECT_EQ(copied.machine.mark_of(Side::agent, ReceiptLevel::read), 4U);
  EXPECT_TRUE(copied.machine.on_send(ConversationFixture::visitor(), id_hash(1), 5, ItemKind::text).dup);
  EXPECT_EQ(copied.machine.plan_resume(1, 5).gaps[0].reason, GapReason::ahead);
}

TEST_F(ConversationRestoreTest, ACopyOfOneWhoseOldItemsAreGoneBeginsWhereThatDoes) {
  Restored small(2);
  ASSERT_TRUE(small.machine.restore_event({.epoch = 1, .seq = 1, .group = 0}, nullptr));
  for (uint64_t seq = 2; seq <= 5; ++seq) {
    ASSERT_TRUE(small.machine.restore_message({.epoch = 1, .seq = seq, .sender_id = "v1", .id = id_hash(seq)},
                                              reinterpret_cast<void*>(seq)));
  }
  Restored copied(2);
  copied.machine.copy(small.machine, [](const Item& item) { return item.body; });
  ASSERT_NO_FATAL_FAILURE(expect_same(small.machine, copied.machine));
  EXPECT_EQ(copied.machine.items().first_seq(), 4U);
}

}  // namespace
}  // namespace taut::chat
