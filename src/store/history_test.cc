// What every history does, whatever database is behind it: writing, reading, removing.
#include "store/history.h"

#include <string>
#include <vector>

#include "store/history_fixture.h"

namespace taut::store {
namespace {

class History : public HistoryFixture {};
INSTANTIATE_TEST_SUITE_P(, History, kBackends, backend_name);

/// One conversation with `items` texts "m1", "m2", …
Story talk(uint32_t items) {
  Story story;
  story.conversation("c1", "v1");
  for (uint32_t i = 1; i <= items; ++i) story.text("c1", "m" + std::to_string(i));
  return story;
}

std::string seqs(const ItemPage& page) {
  std::string text;
  for (const ItemRow& item : page.items) text += (text.empty() ? "" : " ") + std::to_string(item.seq);
  return text + (page.more ? " more" : "");
}

TEST_P(History, ANewOneIsEmpty) {
  EXPECT_EQ(good(store_->position()), 0U);
  EXPECT_TRUE(all_conversations(*store_).empty());
  EXPECT_FALSE(good(store_->conversation("c1")));
  EXPECT_EQ(after(*store_, "c1", 0, 10), ItemPage{});
  EXPECT_TRUE(all_hits(*store_, "anything").empty());
  EXPECT_TRUE(succeeds(store_->apply({})));
}

TEST_P(History, ItemsComeBackByteForByte) {
  const std::string hard =
      "tab\t line\n return\r back\\slash \\N \\. \"quotes\" ' ; -- $1 ?1 \x01\x7f 你好 👩‍👩‍👧 "
      "שלום "
      "مرحبا";
  Story story;
  story.conversation("c1", "v1", "sales", hard);
  story.text("c1", hard, PartyKind::agent, "a1");
  story.note("c1", hard);
  apply(story);
  const ItemPage page = after(*store_, "c1", 0, 10);
  ASSERT_EQ(page.items.size(), 2U);
  EXPECT_EQ(
      page.items[0],
      (ItemRow{.epoch = 1, .seq = 1, .ts_ms = 2'000, .kind = ItemKind::text, .json = "{c1/1 " + hard + "}"}));
  EXPECT_EQ(page.items[1].json, "{c1/2 " + hard + "}");
  EXPECT_EQ(good(store_->conversation("c1"))->json, "{facts c1" + hard + "}");
}

TEST_P(History, PagesAreAscendingInBothDirections) {
  apply(talk(9));
  EXPECT_EQ(seqs(after(*store_, "c1", 0, 4)), "1 2 3 4 more");
  EXPECT_EQ(seqs(after(*store_, "c1", 4, 4)), "5 6 7 8 more");
  EXPECT_EQ(seqs(after(*store_, "c1", 5, 4)), "6 7 8 9");
  EXPECT_EQ(seqs(after(*store_, "c1", 9, 4)), "");
  EXPECT_EQ(seqs(before(*store_, "c1", 0, 4)), "6 7 8 9 more");
  EXPECT_EQ(seqs(before(*store_, "c1", 6, 4)), "2 3 4 5 more");
  EXPECT_EQ(seqs(before(*store_, "c1", 5, 4)), "1 2 3 4");
  EXPECT_EQ(seqs(before(*store_, "c1", 1, 4)), "");
  EXPECT_EQ(seqs(before(*store_, "c1", 100, kPageMax)), "1 2 3 4 5 6 7 8 9");
}

TEST_P(History, NotesAreHiddenFromVisitorsAndKeepTheirNumber) {
  Story story;
  story.conversation("c1", "v1");
  story.text("c1", "hello");
  story.note("c1", "careful");
  apply(story);
  const ItemPage seen = before(*store_, "c1", 0, 10, Audience::visitor);
  ASSERT_EQ(seen.items.size(), 2U);
  EXPECT_EQ(seen.items[0].json, "{c1/1 hello}");
  EXPECT_EQ(seen.items[1],
            (ItemRow{.epoch = 1, .seq = 2, .ts_ms = 3'000, .kind = ItemKind::note, .json = ""}));
  EXPECT_EQ(before(*store_, "c1", 0, 10).items[1].json, "{c1/2 careful}");
}

TEST_P(History, WhatWasAppliedMayComeAgain) {
  const Story story = talk(9);
  apply(story);
  const std::string once = dump(*store_);
  apply(story);
  EXPECT_EQ(dump(*store_), once);
  ASSERT_TRUE(succeeds(store_->apply(story.part(4, 7))));
  EXPECT_EQ(dump(*store_), once);
}

TEST_P(History, BatchesMayOverlapAndEndAnywhere) {
  Story story = talk(5);
  story.event("c1", EventKind::assigned, "a1");
  story.receipts({.conversation = "c1", .agent_read = 2});
  story.event("c1", EventKind::closed);
  apply(story);
  const std::string at_once = dump(*store_);
  const StoreHome other(Backend::sqlite);
  const auto store = other.open();
  for (uint64_t record = 1; record <= story.last(); ++record) {
    ASSERT_TRUE(succeeds(store->apply(story.part(record > 2 ? record - 2 : 1, record))));
    EXPECT_EQ(good(store->position()), record);
  }
  EXPECT_EQ(dump(*store), at_once);
}

TEST_P(History, AHoleIsRefusedAndNothingOfTheBatchKept) {
  const Story story = talk(9);
  ASSERT_TRUE(succeeds(store_->apply(story.part(1, 3))));
  const std::string before_it = dump(*store_);
  const Status behind = store_->apply(story.part(5, 6));
  ASSERT_FALSE(behind);
  EXPECT_EQ(behind.error().message, "record 5 follows record 3: what is between them is missing");
  std::vector<StoredRecord> torn(story.all().begin(), story.all().end());
  torn.erase(torn.begin() + 6);
  EXPECT_FALSE(store_->apply(torn));
  EXPECT_EQ(dump(*store_), before_it);
  apply(story);
  EXPECT_EQ(good(store_->position()), 10U);
}

TEST_P(History, AnEmptyOneStartsWhereTheJournalDoes) {
  Story story(5'000);
  story.conversation("c1", "v1");
  story.text("c1", "hello");
  apply(story);
  EXPECT_EQ(good(store_->position()), 5'001U);
  EXPECT_EQ(good(store_->conversation("c1"))->record, 5'000U);
}

TEST_P(History, TwoItemsWithOneNumberAreRefusedAndTheStoreGoesOn) {
  Story story = talk(3);
  apply(story);
  const std::string before_it = dump(*store_);
  story.text("c1", "m4");
  story.set_seq("c1", 1);
  story.text("c1", "another m2");
  EXPECT_FALSE(store_->apply(story.all()));
  EXPECT_EQ(dump(*store_), before_it);
  ASSERT_TRUE(succeeds(store_->apply(story.part(1, 5))));
  EXPECT_EQ(seqs(after(*store_, "c1", 0, 10)), "1 2 3 4");
}

TEST_P(History, RecordsOfWhichNothingIsKeptMoveThePosition) {
  Story story;
  story.others(3);
  apply(story);
  EXPECT_EQ(good(store_->position()), 3U);
  reopen();
  EXPECT_EQ(good(store_->position()), 3U);
}

TEST_P(History, StateAndOwnerFollowTheEvents) {
  struct Step {
    EventKind event;
    std::string agent;
    std::string group;
    ConversationState state;
    std::string owner;
    std::string in_group;
  };
  using enum ConversationState;
  const std::vector<Step> steps = {
      {EventKind::opened, "", "sales", queued, "", "sales"},
      {EventKind::assigned, "a1", "", assigned, "a1", "sales"},
      {EventKind::requeued, "", "sales", queued, "", "sales"},
      {EventKind::assigned, "a2", "", assigned, "a2", "sales"},
      {EventKind::accepted, "a2", "", active, "a2", "sales"},
      {EventKind::transferred, "a3", "", assigned, "a3", "sales"},
      {EventKind::transferred, "", "support", queued, "", "support"},
      {EventKind::assigned, "a1", "", assigned, "a1", "support"},
      {EventKind::accepted, "a1", "", active, "a1", "support"},
      {EventKind::closed, "a9", "", closed, "a1", "support"},
      {EventKind::rated, "a1", "support", closed, "a1", "support"},
      {EventKind::reopened, "", "support", queued, "", "support"},
  };
  Story story;
  story.conversation("c1", "v1");
  for (const Step& step : steps) {
    story.event("c1", step.event, step.agent, step.group);
    apply(story);
    const ConversationRow row = good(store_->conversation("c1")).value();
    const std::string where = "event " + std::to_string(static_cast<int>(step.event));
    EXPECT_EQ(row.state, step.state) << where;
    EXPECT_EQ(row.agent, step.owner) << where;
    EXPECT_EQ(row.group, step.in_group) << where;
    EXPECT_EQ(row.seq, story.seq_of("c1")) << where;
    EXPECT_EQ(row.last_ms, static_cast<int64_t>(story.last()) * Story::kMsPerRecord) << where;
  }
}

TEST_P(History, TheEpochIsThatOfTheLatestItem) {
  Story story = talk(2);
  story.start_epoch();
  story.text("c1", "after the crash");
  apply(story);
  EXPECT_EQ(good(store_->conversation("c1"))->epoch, 2U);
  const ItemPage page = after(*store_, "c1", 1, 10);
  ASSERT_EQ(page.items.size(), 2U);
  EXPECT_EQ(page.items[0].epoch, 1U);
  EXPECT_EQ(page.items[1].epoch, 2U);
}

TEST_P(History, MarksOnlyRise) {
  Story story = talk(9);
  story.receipts({.conversation = "c1", .visitor_delivered = 5, .visitor_read = 4});
  story.receipts({.conversation = "c1", .visitor_delivered = 3, .agent_delivered = 7, .agent_read = 6});
  apply(story);
  story.receipts({.conversation = "c1", .visitor_read = 2, .agent_read = 9});
  apply(story);
  const ConversationRow row = good(store_->conversation("c1")).value();
  EXPECT_EQ(row.visitor_delivered, 5U);
  EXPECT_EQ(row.visitor_read, 4U);
  EXPECT_EQ(row.agent_delivered, 7U);
  EXPECT_EQ(row.agent_read, 9U);
  EXPECT_EQ(row.seq, 9U);
}

TEST_P(History, WhatBelongsToNoConversationIsPassedOver) {
  Story story;
  story.text("c0", "into the void");
  story.receipts({.conversation = "c0", .agent_read = 1});
  story.conversation("c1", "v1");
  apply(story);
  EXPECT_EQ(ids(all_conversations(*store_)), "c1");
  EXPECT_TRUE(all_hits(*store_, "into the void").empty());
  EXPECT_EQ(good(store_->position()), 3U);
}

TEST_P(History, AnItemAheadOfItsConversationIsPassedOver) {
  Story story;
  story.text("c1", "too early");
  story.conversation("c1", "v1");
  story.text("c1", "in time");
  apply(story);
  EXPECT_EQ(seqs(after(*store_, "c1", 0, 10)), "2");
}

TEST_P(History, FactsToldAgainReplaceTheOldOnes) {
  Story story = talk(2);
  story.event("c1", EventKind::transferred, "", "support");
  story.conversation("c1", "v1", "billing", " anew");
  apply(story);
  const ConversationRow row = good(store_->conversation("c1")).value();
  EXPECT_EQ(row.record, 1U);
  EXPECT_EQ(row.group, "billing");
  EXPECT_EQ(row.json, "{facts c1 anew}");
  EXPECT_EQ(row.seq, 3U);
  EXPECT_EQ(ids(all_conversations(*store_)), "c1");
}

/// c1 … c6 of v1 and v2 in turn, owned by a1 and a2 in turn; the even ones are closed.
Story six_conversations() {
  Story story;
  for (int i = 1; i <= 6; ++i) {
    const std::string id = "c" + std::to_string(i);
    story.conversation(id, i % 2 == 1 ? "v1" : "v2");
    story.event(id, EventKind::accepted, i <= 3 ? "a1" : "a2");
    story.text(id, "number " + std::to_string(i) + (i % 3 == 0 ? " urgent" : ""));
    if (i % 2 == 0) story.event(id, EventKind::closed);
  }
  return story;
}

TEST_P(History, ConversationsAreListedNewestFirstByEveryFilter) {
  apply(six_conversations());
  EXPECT_EQ(ids(all_conversations(*store_)), "c6 c5 c4 c3 c2 c1");
  EXPECT_EQ(ids(all_conversations(*store_, {.state = ConversationState::closed})), "c6 c4 c2");
  EXPECT_EQ(ids(all_conversations(*store_, {.state = ConversationState::queued})), "");
  EXPECT_EQ(ids(all_conversations(*store_, {.agent = "a1"})), "c3 c2 c1");
  EXPECT_EQ(ids(all_conversations(*store_, {.visitor = "v2"})), "c6 c4 c2");
  EXPECT_EQ(ids(all_conversations(*store_, {.visitor = "v3"})), "");
  EXPECT_EQ(ids(all_conversations(*store_, {.text = "urgent"})), "c6 c3");
  EXPECT_EQ(ids(all_conversations(*store_, {.text = "ur"})), "c6 c3");
  EXPECT_EQ(
      ids(all_conversations(
          *store_, {.state = ConversationState::active, .agent = "a1", .visitor = "v1", .text = "number"})),
      "c3 c1");
}

TEST_P(History, PagesOfConversationsEndWithTheLastOne) {
  apply(six_conversations());
  const ConversationPage first = good(store_->conversations({.limit = 4}));
  EXPECT_EQ(ids(first.conversations), "c6 c5 c4 c3");
  ASSERT_NE(first.cursor, 0U);
  const ConversationPage second = good(store_->conversations({.cursor = first.cursor, .limit = 4}));
  EXPECT_EQ(ids(second.conversations), "c2 c1");
  EXPECT_EQ(second.cursor, 0U);
  EXPECT_EQ(good(store_->conversations({.limit = 6})).cursor, 0U);
  EXPECT_EQ(ids(all_conversations(*store_, {.visitor = "v1", .limit = 1})), "c5 c3 c1");
  EXPECT_EQ(ids(all_conversations(*store_, {.text = "number", .limit = 2})), "c6 c5 c4 c3 c2 c1");
}

TEST_P(History, ARemovedVisitorIsGoneFromEverythingAndTheOthersStay) {
  apply(six_conversations());
  uint64_t bytes = 0;
  for (const ConversationRow& row : all_conversations(*store_, {.visitor = "v1"})) {
    bytes += row.json.size();
    for (const ItemRow& item : after(*store_, row.id, 0, 10).items) bytes += item.json.size();
  }
  EXPECT_EQ(good(store_->remove_visitor("v1")), (Removal{.conversations = 3, .items = 6, .bytes = bytes}));
  EXPECT_EQ(ids(all_conversations(*store_)), "c6 c4 c2");
  EXPECT_EQ(after(*store_, "c1", 0, 10), ItemPage{});
  EXPECT_FALSE(good(store_->conversation("c1")));
  EXPECT_EQ(places(all_hits(*store_, "number")), "c6/2 c4/2 c2/2");
  EXPECT_EQ(good(store_->remove_visitor("v1")), Removal{});
  reopen();
  EXPECT_EQ(ids(all_conversations(*store_)), "c6 c4 c2");
}

TEST_P(History, WhatComesLaterOfARemovedVisitorsConversationIsNotKept) {
  Story story = talk(2);
  apply(story);
  (void)good(store_->remove_visitor("v1"));
  story.text("c1", "still here");
  story.event("c1", EventKind::closed);
  apply(story);
  EXPECT_EQ(dump(*store_), "position 5\n");
}

TEST_P(History, AForgottenVisitorGoesAndComesBackWithNewConversationsOnly) {
  // In one batch with what is forgotten, and in one of its own.
  for (const uint64_t first : {uint64_t{8}, uint64_t{5}}) {
    store_->remove_visitor("v1").value();
    Story story(store_->position().value() + 1);
    const uint64_t base = story.last();
    const std::string old = "old" + std::to_string(first);
    const std::string later = "later" + std::to_string(first);
    const std::string other = "other" + std::to_string(first);
    story.conversation(old, "v1");
    story.text(old, "forget this");
    story.conversation(other, "v2");
    story.text(other, "keep this");
    story.forgotten("v1");
    story.text(other, "and this");
    story.conversation(later, "v1");
    story.text(later, "new words");
    ASSERT_TRUE(succeeds(store_->apply(story.part(base + 1, base + first - 4))));
    ASSERT_TRUE(succeeds(store_->apply(story.all())));
    EXPECT_FALSE(good(store_->conversation(old)));
    EXPECT_EQ(after(*store_, old, 0, 10), ItemPage{});
    EXPECT_EQ(all_hits(*store_, "forget this").size(), 0U);
    EXPECT_EQ(after(*store_, other, 0, 10).items.size(), 2U);
    EXPECT_EQ(after(*store_, later, 0, 10).items.size(), 1U);
    ASSERT_TRUE(succeeds(store_->apply(story.all())));  // again changes nothing
    EXPECT_EQ(after(*store_, later, 0, 10).items.size(), 1U);
  }
}

TEST_P(History, AVisitorMustHaveAnId) {
  Story story;
  story.conversation("c1", "");
  apply(story);
  EXPECT_FALSE(store_->remove_visitor(""));
  EXPECT_FALSE(store_->remove_visitor("v1' OR 1=1"));
  EXPECT_FALSE(store_->export_visitor("", [](std::string_view) { return Status(); }));
  EXPECT_EQ(ids(all_conversations(*store_)), "c1");
}

TEST_P(History, ExpiryTakesWhatIsClosedAndOldInBatches) {
  apply(six_conversations());  // closed: c2 at 7 s, c4 at 14 s, c6 at 21 s
  EXPECT_EQ(good(store_->expire(7'000, 10)), Removal{});
  EXPECT_EQ(good(store_->expire(100'000, 2)).conversations, 2U);
  EXPECT_EQ(ids(all_conversations(*store_)), "c6 c5 c3 c1");
  EXPECT_EQ(good(store_->expire(100'000, 2)).conversations, 1U);
  EXPECT_EQ(good(store_->expire(100'000, 2)), Removal{});
  EXPECT_EQ(ids(all_conversations(*store_)), "c5 c3 c1");
  EXPECT_EQ(places(all_hits(*store_, "number")), "c5/2 c3/2 c1/2");
}

TEST_P(History, AnExpiredConversationComesBackWhenItsFactsAreToldAgain) {
  Story story = talk(2);
  story.event("c1", EventKind::closed);
  apply(story);
  EXPECT_EQ(good(store_->expire(100'000, 10)).conversations, 1U);
  story.conversation("c1", "v1");
  story.event("c1", EventKind::reopened, "", "sales");
  story.text("c1", "again");
  apply(story);
  EXPECT_EQ(seqs(after(*store_, "c1", 0, 10)), "4 5");
  EXPECT_EQ(good(store_->conversation("c1"))->state, ConversationState::queued);
}

TEST_P(History, AnExportIsEveryLineOfTheVisitor) {
  Story story = six_conversations();
  for (int i = 0; i < 450; ++i) story.text("c5", "long");
  apply(story);
  std::vector<std::string> lines;
  ASSERT_TRUE(succeeds(store_->export_visitor("v1", [&](std::string_view line) {
    lines.emplace_back(line);
    return Status();
  })));
  ASSERT_EQ(lines.size(), 3U + 6U + 450U);
  EXPECT_EQ(lines[0], "{facts c5}");
  EXPECT_EQ(lines[1], "{c5/1 }");
  EXPECT_EQ(lines[452], "{c5/452 long}");
  EXPECT_EQ(lines[453], "{facts c3}");
  EXPECT_EQ(lines.back(), "{c1/2 number 1}");
}

TEST_P(History, AnExportEndsWithTheErrorOfItsSink) {
  apply(six_conversations());
  int lines = 0;
  const Status ended = store_->export_visitor(
      "v1", [&](std::string_view) { return ++lines == 3 ? Status(fail("no more")) : Status(); });
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "no more");
  EXPECT_EQ(lines, 3);
}

TEST_P(History, OpenedAgainItHasTheSame) {
  apply(six_conversations());
  const std::string all = dump(*store_);
  reopen();
  EXPECT_EQ(dump(*store_), all);
}

}  // namespace
}  // namespace taut::store
