#include "gateway/conversations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "gateway/far_end.h"
#include "gateway/item_frames.h"
#include "hub/hand_turned_shard.h"

namespace taut::gateway {
namespace {

constexpr size_t kPoolBytesMax = size_t{64} << 20;
constexpr Handle kAgent(1, 1, 5);  // lives on the other shard

/// One visitor and its conversations on shard 0; what its agent and the dispatcher are told arrives at
/// shard 1.
class ConversationsTest : public testing::Test, protected SessionEvents {
 protected:
  /// `pool_bytes_max` is what the conversations believe.
  explicit ConversationsTest(uint32_t history_items = 300, size_t pool_bytes_max = kPoolBytesMax,
                             wire::Durability mode = wire::Durability::none)
      : feed(here.shard, metrics, {.mode = mode, .committer = 1}),
        conversations(here.shard, here.back(), durable_courier, feed, directory, tracer, metrics,
                      {.groups = {"g"},
                       .conversations_max = 8,
                       .history_items = history_items,
                       .accept_ms = 30'000,
                       .pool_bytes_max = pool_bytes_max,
                       .dispatcher = 1,
                       .rules = rules}) {
    sessions.set_events(*this);
    courier.set_page_listener(conversations);
    here.program.at_flush = [this] { sessions.flush(); };
    visitor.may_open = true;
    conversations.agent_named(0, "a1");
  }
  ~ConversationsTest() override {
    release(hoard.size());
    for (const Handle handle : all) {
      if (Session* session = sessions.find(handle); session != nullptr) sessions.drop(*session);
    }
    take_mail();
  }

  size_t on_http(Session& /*session*/, std::string_view bytes) override { return bytes.size(); }
  void on_frame(Session& /*session*/, std::span<char> /*frame*/) override {}
  void on_leave(Session& /*session*/, net::ByteStream /*stream*/, std::string_view /*unread*/,
                std::string /*unsent*/) override {}
  void on_gone(Session& session) override {
    courier.release_pages(session, true);
    std::erase(session.endpoint->connections, session.self);
  }
  void on_drained(Session& session) override { courier.release_pages(session, false); }

  struct Line {
    Session& session;
    FarEnd far;
  };
  Line connect() {
    auto [near, far] = socket_pair();
    Session* session = sessions.accept(net::ByteStream(std::move(near)), {}, Carrier::websocket);
    visitor.connections.push_back(session->self);
    sessions.opened(*session, visitor);
    all.push_back(session->self);
    return {*session, FarEnd(std::move(far))};
  }
  Lines heard(Line& line) {
    here.flush();
    return without_ids(line.far.read());
  }
  /// Conversations are known by when they were opened; their ids say nothing here.
  static Lines without_ids(Lines lines) {
    for (std::string& line : lines) {
      const size_t dash = line.find('-');
      if (dash == std::string::npos) continue;
      const size_t from = line.rfind(' ', dash);
      line.erase(from, line.find(' ', dash) - from);
    }
    return lines;
  }

  [[nodiscard]] Requester from_visitor(Handle connection) const {
    return {.kind = chat::PartyKind::visitor,
            .connection = connection,
            .endpoint = visitor.self,
            .ref = 1,
            .other_connections = true,  // so that the sender hears itself, too
            .id = visitor.id,
            .name = {}};
  }
  [[nodiscard]] static Requester from_agent() {
    return {.kind = chat::PartyKind::agent,
            .connection = Handle(1, 1, 9),
            .endpoint = kAgent,
            .groups = 1,
            .ref = 1,
            .id = "a1",
            .name = {}};
  }
  ConversationRecord* open(Handle connection, std::string_view conversation = {}) {
    conversations.open({.from = from_visitor(connection), .conversation = conversation});
    return visitor.topics.empty() ? nullptr : conversations.find(visitor.topics.back().key);
  }
  ConversationRequest request(wire::ClientType type, const ConversationRecord& record,
                              const Requester& from) {
    return {.type = type,
            .from = from,
            .conversation = record.machine.id(),
            .client_msg_id = {},
            .text = {},
            .reason = {}};
  }
  void say(const ConversationRecord& record, const Requester& from, std::string_view text,
           wire::ItemKind kind = wire::ItemKind::text) {
    ConversationRequest said = request(wire::ClientType::send, record, from);
    const std::string id = "m" + std::to_string(++messages);
    said.kind = kind;
    said.client_msg_id = id;
    said.text = text;
    conversations.handle(said);
  }
  void close(const ConversationRecord& record, Handle connection) {
    conversations.handle(request(wire::ClientType::close, record, from_visitor(connection)));
  }
  void resume(const ConversationRecord& record, Line& line, uint64_t seq) {
    ConversationRequest hello = request(wire::ClientType::hello, record, from_visitor(line.session.self));
    hello.has_cursor = true;
    hello.epoch = seq == 0 ? 0 : 1;
    hello.seq = seq;
    line.session.held.emplace_back(record.machine.id());
    conversations.handle(hello);
  }
  void assign(const ConversationRecord& record) {
    conversations.decide(chat::Effect(chat::Assign{.conversation = record.self,
                                                   .agent = kAgent,
                                                   .opening = record.machine.opening(),
                                                   .owner_epoch = record.machine.owner_epoch() + 1}));
  }
  void requeue(const ConversationRecord& record) {
    conversations.decide(chat::Effect(chat::Requeue{.conversation = record.self,
                                                    .opening = record.machine.opening(),
                                                    .owner_epoch = record.machine.owner_epoch() + 1,
                                                    .reason = chat::Reason::timeout}));
  }

  /// Takes all that the pool can give.
  void exhaust_pool() {
    for (size_t i = BufferPool::kClasses; i-- > 0;) {
      const size_t bytes = BufferPool::kTotalBytes[i] - sizeof(Block) - BufferPool::kCanaryBytes;
      while (Block* block = here.pool().allocate(bytes)) hoard.push_back(block);
    }
  }
  /// Takes what sends and openings may not have; a few answers still find room.
  void fill_pool() {
    while (Block* block = here.pool().allocate(BufferPool::kCapacityMax)) hoard.push_back(block);
    release(32);
  }
  void release(size_t blocks) {
    for (; blocks > 0; --blocks) {
      here.pool().release(hoard.back());
      hoard.pop_back();
    }
  }

  /// What shard 1 was sent since the last call: frames in short form, other mail by its kind.
  Lines take_mail() {
    here.flush();
    for (size_t before = SIZE_MAX; before != there.program.received.size();) {  // a turn takes a batch
      before = there.program.received.size();
      there.turn();
    }
    Lines lines;
    for (const Mail& mail : there.program.received) {
      if (mail.kind == static_cast<uint32_t>(MailKind::journal_record)) {
        there.back().release(mail.as<JournalMail>().block);
        continue;
      }
      if (mail.kind != static_cast<uint32_t>(MailKind::deliver)) {
        lines.push_back("mail");
        continue;
      }
      const auto delivery = mail.as<Delivery>();
      if (delivery.lane == Lane::page_end) cursor = delivery.cursor;
      if (delivery.frame == nullptr) {
        lines.push_back("no memory");
        continue;
      }
      lines.push_back(FarEnd::short_form(frame_json(*delivery.frame)));
      there.back().release(delivery.frame);
    }
    there.program.received.clear();
    there.flush();
    while (here.turn() && here.outstanding() > 0) {
    }
    return without_ids(lines);
  }

  static constexpr SessionLimits kLimits{.frame_bytes_max = 4'096,
                                         .soft_limit_bytes = 1U << 20,
                                         .hard_limit_bytes = 10U << 20,
                                         .slow_reader_ns = 2'000'000'000,
                                         .hello_timeout_ns = 10'000'000'000,
                                         .ping_ns = 25'000'000'000};
  ManualClock clock;
  Mesh mesh{{.members = 2}};
  hub::HandTurnedShard here{0, mesh, clock, kPoolBytesMax};
  hub::HandTurnedShard there{1, mesh, clock};
  GatewayMetrics metrics;
  Sessions sessions{here.shard, here.back(), metrics, kLimits};
  hub::Directory directory{0, 10};
  hub::Endpoint& visitor = *directory.find_or_create(Role::visitor, "v1");
  Tracer tracer{clock, metrics, {}};
  Courier courier{here.shard, here.back(), sessions, directory, tracer, metrics};
  JournalFeed feed;
  DurableCourier durable_courier{here.shard, courier, feed};
  GroupRules rules;
  Conversations conversations;
  std::vector<Handle> all;
  std::vector<Block*> hoard;
  uint64_t cursor = 0;  ///< of the last page that shard 1 got
  int messages = 0;
};

// -- the journal --

class JournaledConversationsTest : public ConversationsTest {
 protected:
  JournaledConversationsTest() : ConversationsTest(300, kPoolBytesMax, wire::Durability::durable) {}
};

TEST_F(JournaledConversationsTest, AMessageThatWasLetInIsJournaledThoughItsOwnAcceptUsesUpTheRoom) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  ASSERT_NE(record, nullptr);
  assign(*record);
  Block* filler = here.pool().allocate(1);
  feed.append(
      journal::RecordType::item, *filler, 0,
      static_cast<uint32_t>(JournalFeed::kUndurableBytesMax - 1 - metrics.journal_undurable_bytes.load()), 0);
  here.pool().release(filler);
  ASSERT_FALSE(feed.refuses());
  const uint64_t before = feed.number();
  say(*record, from_agent(), "accepts, too");
  EXPECT_TRUE(feed.refuses());
  EXPECT_EQ(feed.number(), before + 2)
      << "the event and the message: its durable ack waits for its own record";
  EXPECT_FALSE(record->behind);
  say(*record, from_agent(), "refused");
  requeue(*record);
  EXPECT_EQ(feed.number(), before + 2) << "events wait in memory";
  EXPECT_TRUE(record->behind);
  static_cast<void>(take_mail());
}

TEST_F(JournaledConversationsTest, WhatIsClosedIsNotForgottenBeforeItIsDurable) {
  Line line = connect();
  for (int i = 0; i < 8; ++i) close(*open(line.session.self), line.session.self);
  heard(line);
  open(line.session.self);
  EXPECT_EQ(heard(line), Lines{"error overloaded"});
  conversations.on_durable({.records = feed.number()});
  EXPECT_NE(open(line.session.self), nullptr);
  static_cast<void>(take_mail());
}

class DurableFirstConversationsTest : public ConversationsTest {
 protected:
  DurableFirstConversationsTest()
      : ConversationsTest(300, kPoolBytesMax, wire::Durability::durable_before_deliver) {}
};

TEST_F(DurableFirstConversationsTest, AConnectionThatComesWhileAMessageWaitsForTheDiskHearsIt) {
  Line sender = connect();
  ConversationRecord* record = open(sender.session.self);
  ASSERT_NE(record, nullptr);
  Requester alone = from_visitor(sender.session.self);
  alone.other_connections = false;
  say(*record, alone, "hello");
  Line newcomer = connect();
  conversations.on_durable({.records = feed.number()});
  EXPECT_THAT(heard(newcomer), testing::Contains("message hello"));
  static_cast<void>(take_mail());
}

TEST_F(DurableFirstConversationsTest, WhatHappensWhileTheDiskRefusesIsToldWhenItIsOnTheDisk) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  ASSERT_NE(record, nullptr);
  const auto durable = [&](bool refusing) {
    conversations.on_durable({.records = feed.number(), .refusing = refusing});
  };
  assign(*record);
  durable(true);
  heard(line);
  take_mail();
  requeue(*record);
  EXPECT_EQ(heard(line), Lines{});
  EXPECT_EQ(take_mail(), Lines{});
  durable(false);
  EXPECT_EQ(heard(line), Lines{}) << "the disk does not have it yet";
  conversations.continue_work();
  EXPECT_EQ(heard(line), Lines{}) << "it is given to the disk";
  durable(false);
  EXPECT_EQ(heard(line), Lines{"event"});
  EXPECT_EQ(take_mail(), Lines{"unassigned"});
}

TEST_F(DurableFirstConversationsTest, WhatWaitedInMemoryIsToldThoughAMessageBroughtItToTheDisk) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  ASSERT_NE(record, nullptr);
  conversations.on_durable({.records = feed.number(), .refusing = true});
  heard(line);
  assign(*record);
  conversations.on_durable({.records = feed.number()});
  say(*record, from_agent(), "accepts");
  conversations.on_durable({.records = feed.number()});
  conversations.continue_work();
  EXPECT_EQ(heard(line), (Lines{"opened", "event", "event", "message accepts"}));
  static_cast<void>(take_mail());
}

TEST_F(DurableFirstConversationsTest, ARequestThatTheDiskRefusesIsAnsweredAtOnce) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  ASSERT_NE(record, nullptr);
  conversations.on_durable({.records = 0, .refusing = true});
  say(*record, from_visitor(line.session.self), "refused");
  EXPECT_EQ(heard(line), Lines{"error storage"});
  conversations.on_durable({.records = feed.number()});
  static_cast<void>(take_mail());
}

// -- a pool that is exhausted --

TEST_F(ConversationsTest, DecisionsAreCarriedOutAndToldWhileThePoolIsExhausted) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  ASSERT_NE(record, nullptr);
  take_mail();
  exhaust_pool();
  assign(*record);
  EXPECT_EQ(record->machine.state(), chat::ConversationState::assigned);
  EXPECT_EQ(take_mail(), (Lines{"assigned"}));
  requeue(*record);
  EXPECT_EQ(take_mail(), (Lines{"unassigned"}));
  EXPECT_EQ(record->machine.last_seq(), 3U);
  close(*record, line.session.self);
  EXPECT_EQ(record->machine.state(), chat::ConversationState::closed);
  release(hoard.size());
  EXPECT_GT(here.pool().metrics().overdrawn_blocks.load(), 0U);
}

TEST_F(ConversationsTest, WhoCouldNotBeToldIsClosedAndLearnsAllWhenItResumes) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  for (int i = 0; i < 5; ++i) say(*record, from_visitor(line.session.self), "text");
  heard(line);
  exhaust_pool();
  assign(*record);
  requeue(*record);
  EXPECT_TRUE(visitor.connections.empty());
  here.flush();
  EXPECT_TRUE(line.far.ended());
  release(hoard.size());
  Line again = connect();
  resume(*record, again, 6);
  EXPECT_EQ(heard(again), (Lines{"event", "event", "resumed"}));
}

TEST_F(ConversationsTest, AResumeWithoutMemoryEndsTheConnectionAndNotTheItems) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  assign(*record);
  for (int i = 0; i < 3; ++i) say(*record, from_agent(), "for agents", wire::ItemKind::note);
  sessions.drop(line.session);
  here.flush();
  Line again = connect();
  exhaust_pool();
  resume(*record, again, 1);
  EXPECT_TRUE(visitor.connections.empty());
  release(hoard.size());
  Line third = connect();
  resume(*record, third, 1);
  EXPECT_EQ(heard(third), (Lines{"event", "event", "event", "event", "event", "resumed"}));
}

TEST_F(ConversationsTest, AClosedOneIsResumedOnceToItsClosingEventAndNothingFollows) {
  Line line = connect();
  const ConversationRecord* record = open(line.session.self);
  assign(*record);
  say(*record, from_visitor(line.session.self), "question");
  say(*record, from_agent(), "answer");  // accepts
  close(*record, line.session.self);
  sessions.drop(line.session);
  here.flush();
  Line again = connect();
  resume(*record, again, 1);
  EXPECT_EQ(heard(again),
            (Lines{"event", "message question", "event", "message answer", "event", "resumed"}));
  say(*record, from_agent(), "too late");
  clock.advance_ns(1'000'000'000);
  here.turn();
  EXPECT_EQ(heard(again), Lines{});
}

TEST_F(ConversationsTest, OneThatIsClosedBetweenTwoPagesOfAResumeEndsWithItsClosingEvent) {
  Line line = connect();
  const ConversationRecord* record = open(line.session.self);
  Lines expected;
  for (uint32_t i = 0; i < chat::kPageItemsMax + 1; ++i) {
    const std::string text = "text " + std::to_string(i);
    say(*record, from_visitor(line.session.self), text);
    expected.push_back("message " + text);
  }
  sessions.drop(line.session);
  here.flush();
  Line again = connect();
  resume(*record, again, 1);
  const Requester elsewhere = from_visitor(Handle(1, 1, 9));
  conversations.handle(request(wire::ClientType::close, *record, elsewhere));
  conversations.continue_work();
  expected.insert(expected.end(), {"event", "resumed"});
  Lines lines;
  for (int turn = 0; turn < 4; ++turn) {
    std::ranges::copy(heard(again), std::back_inserter(lines));
    conversations.continue_work();
  }
  EXPECT_EQ(lines, expected);
}

// -- a pool that is full but for the reserve --

TEST_F(ConversationsTest, InAFullPoolClosedOnesMakeRoomAndThenSendsAndOpeningsAreRefused) {
  Line line = connect();
  ConversationRecord* closed = open(line.session.self);
  const Handle closed_handle = closed->self;
  close(*closed, line.session.self);
  ConversationRecord* record = open(line.session.self);
  heard(line);
  fill_pool();
  say(*record, from_visitor(line.session.self), "more");
  EXPECT_EQ(heard(line), Lines{"error overloaded"});
  EXPECT_EQ(record->machine.last_seq(), 1U);
  EXPECT_EQ(conversations.find(closed_handle), nullptr);
  close(*record, line.session.self);
  heard(line);
  open(line.session.self);
  EXPECT_EQ(heard(line), Lines{"error overloaded"});
}

TEST_F(ConversationsTest, AReopeningIsRefusedInAFullPoolAndPossibleAfterwards) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  const std::string id(record->machine.id());
  close(*record, line.session.self);
  heard(line);
  fill_pool();
  open(line.session.self, id);
  EXPECT_EQ(heard(line), Lines{"error overloaded"});
  EXPECT_TRUE(visitor.topics.empty());
  release(hoard.size());
  open(line.session.self, id);
  EXPECT_EQ(heard(line), (Lines{"opened", "event"}));
}

TEST_F(ConversationsTest, ARatingInAFullPoolIsRefusedAndDoesNotForgetWhatItRates) {
  Line line = connect();
  const ConversationRecord* record = open(line.session.self);
  const Handle self = record->self;
  ConversationRequest rating = request(wire::ClientType::rate, *record, from_visitor(line.session.self));
  const std::string id(record->machine.id());
  rating.conversation = id;
  rating.rating = 5;
  fill_pool();
  conversations.handle(rating);
  EXPECT_EQ(heard(line).back(), "error forbidden") << "the rules come before the memory";
  close(*record, line.session.self);
  heard(line);
  conversations.handle(rating);
  EXPECT_EQ(heard(line), Lines{"error overloaded"});
  ASSERT_NE(conversations.find(self), nullptr);
  release(hoard.size());
  conversations.handle(rating);
  EXPECT_EQ(heard(line), (Lines{"ok", "event"}));
  fill_pool();
  conversations.handle(rating);
  EXPECT_EQ(heard(line), Lines{"ok"}) << "said again";
  release(hoard.size());
}

TEST_F(ConversationsTest, InAFullPoolEventsTakeThePlaceOfTheOldestItems) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  for (int i = 0; i < 9; ++i) say(*record, from_visitor(line.session.self), "text");
  ASSERT_EQ(record->machine.items().size(), 10U);
  heard(line);
  fill_pool();
  for (int i = 0; i < 20; ++i) {
    assign(*record);
    requeue(*record);
  }
  heard(line);
  EXPECT_EQ(record->machine.items().size(), 10U);
  EXPECT_EQ(record->machine.last_seq(), 50U);
  Line again = connect();
  resume(*record, again, 1);
  const Lines lines = heard(again);
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_EQ(lines.front(), "gap");
  EXPECT_EQ(lines.back(), "resumed");
}

// -- closed conversations --

TEST_F(ConversationsTest, OfClosedOnesTheLongestClosedMakesRoomHoweverOftenItWasReopened) {
  Line line = connect();
  std::vector<std::string> ids;
  for (int i = 0; i < 8; ++i) {
    ConversationRecord* record = open(line.session.self);
    ids.emplace_back(record->machine.id());
    close(*record, line.session.self);
  }
  for (int i = 0; i < 3; ++i) close(*open(line.session.self, ids[0]), line.session.self);
  ASSERT_NE(open(line.session.self), nullptr);  // the ninth
  close(*conversations.find(visitor.topics.back().key), line.session.self);
  EXPECT_NE(open(line.session.self, ids[0]), nullptr) << "closed last, forgotten last";
  heard(line);
  close(*conversations.find(visitor.topics.back().key), line.session.self);
  heard(line);
  open(line.session.self, ids[1]);
  EXPECT_EQ(heard(line), Lines{"error no_such_conversation"});
}

TEST_F(ConversationsTest, AResumeWhoseConversationIsForgottenMeanwhileEndsWithAGap) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  assign(*record);
  for (uint32_t i = 0; i < chat::kPageItemsMax; ++i) say(*record, from_visitor(line.session.self), "text");
  take_mail();
  ConversationRequest hello = request(wire::ClientType::hello, *record, from_agent());
  hello.has_cursor = true;
  conversations.handle(hello);
  EXPECT_EQ(take_mail().size(), 1 + chat::kPageItemsMax);
  ASSERT_NE(cursor, 0U);
  close(*record, line.session.self);
  for (int i = 0; i < 8; ++i) close(*open(line.session.self), line.session.self);
  take_mail();
  conversations.on_page_taken({.cursor = cursor});
  conversations.continue_work();
  EXPECT_EQ(take_mail(), Lines{"gap"});
}

// -- other sizes --

/// Where a single item is kept.
class OneItem : public ConversationsTest {
 protected:
  OneItem() : ConversationsTest(1) {}
};

TEST_F(OneItem, AMessageThatAcceptsDoesNotTakeTheEventFromItsReceivers) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  assign(*record);
  heard(line);
  take_mail();
  say(*record, from_agent(), "accepted");
  EXPECT_EQ(heard(line), (Lines{"event", "message accepted"}));
}

TEST_F(ConversationsTest, AHiddenNoteIsTheSameHoweverLateItIsTold) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  assign(*record);
  say(*record, from_agent(), "for agents", wire::ItemKind::note);
  const uint64_t seq = record->machine.last_seq();
  const auto told = [&] {
    Block* frame = item_frame_for(here.pool(), *record, seq, true);
    std::string json(frame_json(*frame));
    here.pool().release(frame);
    return json;
  };
  const std::string first = told();
  requeue(*record);
  EXPECT_EQ(told(), first);
  EXPECT_THAT(first, testing::HasSubstr(R"("event":"note_hidden","owner_epoch":0,)"))
      << "as history tells it";
  heard(line);
  static_cast<void>(take_mail());
}

/// A pool that has nothing left although by its count it is not full: all blocks are of other sizes.
class Fragmented : public ConversationsTest {
 protected:
  Fragmented() : ConversationsTest(300, 4 * kPoolBytesMax) {}
};

TEST_F(Fragmented, ANoteLeavesItsPlaceToTheVisitorWhenItTookTheLastBlock) {
  Line line = connect();
  ConversationRecord* record = open(line.session.self);
  assign(*record);
  say(*record, from_agent(), "accepted");  // what of it is not written yet keeps room for a little more
  exhaust_pool();
  here.pool().release(hoard.front());  // the largest
  hoard.erase(hoard.begin());
  say(*record, from_agent(), "for agents", wire::ItemKind::note);
  EXPECT_EQ(record->machine.last_seq(), 5U);
  EXPECT_EQ(heard(line), (Lines{"opened", "event", "event", "message accepted", "event"}));
}

}  // namespace
}  // namespace taut::gateway
