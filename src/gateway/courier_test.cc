#include "gateway/courier.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "gateway/far_end.h"
#include "hub/hand_turned_shard.h"

namespace taut::gateway {
namespace {

constexpr Handle kFirst(1, 1, 1);  // conversations, of the other shard
constexpr Handle kSecond(1, 1, 2);
constexpr Handle kThird(1, 1, 3);

/// One agent's endpoint on shard 0; conversations and foreign frames come from shard 1.
class CourierTest : public testing::Test, protected SessionEvents, protected PageListener {
 protected:
  CourierTest() {
    sessions.set_events(*this);
    courier.set_page_listener(*this);
    here.program.handle_event = [this](const PollEvent& event) { sessions.on_event(event); };
    here.program.handle_timer = [this](Timer& timer) { sessions.on_timer(timer); };
    here.program.at_flush = [this] { sessions.flush(); };
    agent.capacity_max = 1;
  }
  ~CourierTest() override {
    for (const Handle handle : all) drop(handle);
    here.flush();
    there.turn();
    EXPECT_EQ(here.outstanding(), 0U);
    EXPECT_EQ(there.outstanding(), 0U);
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
  void on_page_taken(const PageTaken& taken) override { pages.push_back(taken); }

  struct Line {
    Session& session;
    FarEnd far;
  };
  /// A WebSocket that agreed on permessage-deflate.
  Line connect_deflate() {
    Line line = connect();
    line.session.connection.decoder().allow_deflate();
    return line;
  }
  Line connect(Carrier carrier = Carrier::websocket) {
    auto [near, far] = socket_pair();
    Session* session = sessions.accept(net::ByteStream(std::move(near)), {}, carrier);
    agent.connections.push_back(session->self);
    sessions.opened(*session, agent);
    all.push_back(session->self);
    return {*session, FarEnd(std::move(far), carrier)};
  }
  void drop(Handle handle) {
    if (Session* session = sessions.find(handle); session != nullptr) sessions.drop(*session);
  }

  static std::string name_of(Handle conversation) { return "c" + std::to_string(conversation.slot()); }

  /// Hands a frame of shard `from` to the agent's endpoint.
  template <class M>
  void give(Lane lane, Handle conversation, const M& message, Handle except = {}, int from = 1) {
    Block* frame = make_frame(from == 0 ? here.pool() : there.pool(), message);
    ASSERT_NE(frame, nullptr);
    courier.receive({.to = agent.self,
                     .except = except,
                     .conversation = conversation,
                     .frame = frame,
                     .owner_epoch = 1,
                     .lane = lane,
                     .to_endpoint = true});
  }
  void assign(Handle c) {
    give(Lane::live_assigned, c, wire::Assigned{.conversation = name_of(c), .visitor_id = "v", .group = "g"});
  }
  void unassign(Handle c) { give(Lane::live_unassigned, c, wire::Unassigned{.conversation = name_of(c)}); }
  void say(Handle c, std::string_view text, Handle except = {}, int from = 1) {
    give(Lane::live, c, wire::Message{.conversation = name_of(c), .text = text}, except, from);
  }
  /// A frame for one connection.
  template <class M>
  void give_one(Lane lane, const Session& session, Handle conversation, const M& message,
                uint64_t cursor = 0) {
    courier.receive({.to = session.self,
                     .conversation = conversation,
                     .frame = make_frame(there.pool(), message),
                     .cursor = cursor,
                     .lane = lane});
  }

  /// What this line has got since it was last asked.
  Lines heard(Line& line) {
    here.flush();
    return line.far.read();
  }

  static constexpr SessionLimits kLimits{.frame_bytes_max = 4'096,
                                         .soft_limit_bytes = 10'000,
                                         .hard_limit_bytes = 10U << 20,
                                         .slow_reader_ns = 2'000'000'000,
                                         .hello_timeout_ns = 10'000'000'000,
                                         .ping_ns = 25'000'000'000,
                                         .deflate = true};
  ManualClock clock;
  Mesh mesh{{.members = 2}};
  hub::HandTurnedShard here{0, mesh, clock, 4 * BufferPool::kSlabBytes};
  hub::HandTurnedShard there{1, mesh, clock};
  GatewayMetrics metrics;
  Sessions sessions{here.shard, here.back(), metrics, kLimits};
  hub::Directory directory{0, 10};
  hub::Endpoint& agent = *directory.find_or_create(Role::agent, "a1");
  Tracer tracer{clock, metrics, {}};
  Courier courier{here.shard, here.back(), sessions, directory, tracer, metrics};
  std::vector<Handle> all;  ///< connections ever made
  std::vector<PageTaken> pages;
};

// -- who gets it --

TEST_F(CourierTest, EveryConnectionOfAnEndpointGetsAFrameOnceButTheOneExcepted) {
  Line one = connect();
  Line two = connect();
  Line three = connect(Carrier::compact);
  say(kFirst, "hello", two.session.self);
  EXPECT_EQ(heard(one), Lines{"message c1 hello"});
  EXPECT_EQ(heard(two), Lines{});
  EXPECT_EQ(heard(three), Lines{"message c1 hello"});
  EXPECT_EQ(metrics.pushes.load(), 2U);
}

TEST_F(CourierTest, ALongFrameReachesAllAndComesHomeFromEitherShard) {
  Line one = connect();
  Line two = connect(Carrier::compact);
  Line three = connect();
  Line four = connect(Carrier::compact);
  const std::string text(2'000, 'x');
  for (const int from : {0, 1}) {
    say(kFirst, text, {}, from);
    for (Line* line : {&one, &two, &three, &four}) {
      EXPECT_EQ(heard(*line), Lines{"message c1 " + text.substr(0, 11)});
    }
  }
  there.turn();
  EXPECT_EQ(there.outstanding(), 0U);
  EXPECT_EQ(here.outstanding(), 0U);
}

TEST_F(CourierTest, ALongFrameIsCompressedOnceForAllWhoAgreedOnThat) {
  Line one = connect_deflate();
  Line two = connect();
  Line three = connect_deflate();
  Line four = connect(Carrier::compact);
  const std::string text(2'000, 'x');
  for (const int from : {0, 1}) {
    say(kFirst, text, {}, from);
    for (Line* line : {&one, &three})
      EXPECT_EQ(heard(*line), Lines{"deflated message c1 " + text.substr(0, 11)});
    for (Line* line : {&two, &four}) EXPECT_EQ(heard(*line), Lines{"message c1 " + text.substr(0, 11)});
    const uint64_t bytes_in = metrics.deflate_bytes_in.load();
    EXPECT_GT(bytes_in, (1 + static_cast<uint64_t>(from)) * 2'000);
    EXPECT_LT(bytes_in, (1 + static_cast<uint64_t>(from)) * 2'300) << "once each";
  }
  there.turn();
  EXPECT_EQ(there.outstanding(), 0U);
  EXPECT_EQ(here.outstanding(), 0U);
}

TEST_F(CourierTest, ACompressedFrameIsThatOfItsOwnMessage) {
  Line line = connect_deflate();
  say(kFirst, std::string(2'000, 'x'), {}, 0);
  say(kFirst, std::string(2'000, 'y'), {}, 0);  // in the block of the first, perhaps
  line.session.held.emplace_back("c3");
  give_one(Lane::page, line.session, kThird,
           wire::Message{.conversation = "c3", .text = std::string(2'000, 'z')});
  say(kFirst, "short");
  EXPECT_EQ(heard(line), (Lines{"deflated message c1 xxxxxxxxxxx", "deflated message c1 yyyyyyyyyyy",
                                "deflated message c3 zzzzzzzzzzz", "message c1 short"}));
}

TEST_F(CourierTest, ALongAnswerIsCompressed) {
  Line line = connect_deflate();
  const std::string text(2'000, 'x');
  courier.answer(line.session.self, wire::Message{.conversation = "c1", .text = text});
  courier.answer(line.session.self, wire::Pong{.ref = 1});
  EXPECT_EQ(heard(line), (Lines{"deflated message c1 xxxxxxxxxxx", "pong"}));
}

TEST_F(CourierTest, WithoutMemoryForItsCompressedFrameAConnectionIsDropped) {
  Line line = connect_deflate();
  std::vector<Block*> hoard;
  while (Block* block = here.pool().allocate(hub::OutQueue::kCorkBytes)) hoard.push_back(block);
  say(kFirst, std::string(2'000, 'x'));
  EXPECT_EQ(line.session.phase, Session::Phase::dead);
  for (Block* block : hoard) here.pool().release(block);
}

TEST_F(CourierTest, FramesForNobodyAreGivenBack) {
  say(kFirst, "to an endpoint without connections");
  Line line = connect();
  const Handle gone = line.session.self;
  drop(gone);
  here.flush();
  courier.receive({.to = gone, .frame = make_frame(there.pool(), wire::Pong{}), .lane = Lane::answer});
  directory.erase(agent);
  say(kFirst, "to an endpoint that is gone");
  here.flush();
  there.turn();
  EXPECT_EQ(there.outstanding(), 0U);
}

TEST_F(CourierTest, WithoutMemoryOneConnectionIsDroppedAndTheOthersStillGetTheFrame) {
  Line one = connect();
  Line two = connect();
  Line three = connect();
  // The others have an output already, with room in it; the first needs a block that is not there.
  for (Line* line : {&two, &three}) give_one(Lane::answer, line->session, {}, wire::Pong{.ref = 1});
  std::vector<Block*> hoard;
  for (const size_t bytes : {224U, hub::OutQueue::kCorkBytes}) {  // as an output's list and cork
    while (Block* block = here.pool().allocate(bytes)) hoard.push_back(block);
  }
  say(kFirst, "hello");
  EXPECT_EQ(one.session.phase, Session::Phase::dead);
  for (Line* line : {&two, &three}) EXPECT_EQ(heard(*line), (Lines{"pong", "message c1 hello"}));
  EXPECT_TRUE(one.far.ended());
  for (Block* block : hoard) here.pool().release(block);
}

TEST_F(CourierTest, AHeadForWhoseRestThereIsNoMemoryEndsTheConnectionWithoutAWord) {
  if (BufferPool::kCanaryBytes != 0) GTEST_SKIP() << "the counts below are of blocks without canaries";
  Line line = connect(Carrier::compact);
  // 14 pieces fill an output's list. Answers in two corks are the first two, of which the second goes on with
  // a head; each long frame then adds its rest and the next head, and the last one is a head alone.
  for (int i = 0; i < 150; ++i) give_one(Lane::answer, line.session, {}, wire::Pong{.ref = 1});
  for (int i = 0; i < 6; ++i) say(kFirst, std::string(600, 'x'), {}, 0);
  std::vector<Block*> hoard;
  while (Block* block = here.pool().allocate(224)) hoard.push_back(block);
  say(kFirst, std::string(600, 'x'));
  EXPECT_EQ(line.session.phase, Session::Phase::dead);
  here.flush();
  EXPECT_TRUE(line.far.ended());
  EXPECT_TRUE(agent.connections.empty());
  for (Block* block : hoard) here.pool().release(block);
}

TEST_F(CourierTest, AConnectionForWhoseFrameThereWasNoMemoryIsClosedSoThatItResumes) {
  for (const Lane lane : {Lane::answer, Lane::send_answer, Lane::page, Lane::page_end, Lane::release}) {
    Line line = connect();
    line.session.held.push_back(name_of(kFirst));
    pages.clear();
    courier.receive(
        {.to = line.session.self, .conversation = kFirst, .cursor = Handle(0, 3, 4).bits(), .lane = lane});
    EXPECT_EQ(heard(line), Lines{"close 4101"});
    EXPECT_TRUE(agent.connections.empty());
    ASSERT_EQ(pages.size(), lane == Lane::page_end ? 1U : 0U);
    for (const PageTaken& page : pages) EXPECT_TRUE(page.gone);
  }
}

// -- an `assigned` that overtakes --

TEST_F(CourierTest, AnAssignedThatOvertakesAnUnassignedWaitsForItAndItsMessagesBehindIt) {
  Line line = connect();
  assign(kFirst);
  assign(kSecond);
  say(kSecond, "early");
  say(kFirst, "late");
  EXPECT_EQ(heard(line), (Lines{"assigned c1", "message c1 late"}));
  EXPECT_EQ(agent.topics.size(), 1U);
  unassign(kFirst);
  EXPECT_EQ(heard(line), (Lines{"unassigned c1", "assigned c2", "message c2 early"}));
  ASSERT_EQ(agent.topics.size(), 1U);
  EXPECT_EQ(agent.topics[0].key, kSecond);
  say(kSecond, "now direct");
  EXPECT_EQ(heard(line), Lines{"message c2 now direct"});
}

TEST_F(CourierTest, OfSeveralThatWaitOneFollowsEachPlaceThatComesFree) {
  Line line = connect();
  for (const Handle c : {kFirst, kSecond, kThird}) assign(c);
  EXPECT_EQ(heard(line), Lines{"assigned c1"});
  unassign(kFirst);
  EXPECT_EQ(heard(line), (Lines{"unassigned c1", "assigned c2"}));
  unassign(kSecond);
  EXPECT_EQ(heard(line), (Lines{"unassigned c2", "assigned c3"}));
}

TEST_F(CourierTest, WhatWasTakenAwayWhileItWaitedMakesRoomForTheNext) {
  Line line = connect();
  for (const Handle c : {kFirst, kSecond, kThird}) assign(c);
  unassign(kSecond);
  EXPECT_EQ(heard(line), Lines{"assigned c1"});
  unassign(kFirst);
  EXPECT_EQ(heard(line), (Lines{"unassigned c1", "assigned c2", "unassigned c2", "assigned c3"}));
  ASSERT_EQ(agent.topics.size(), 1U);
  EXPECT_EQ(agent.topics[0].key, kThird);
}

TEST_F(CourierTest, AnAssignedForAConversationThatTheAgentAlreadyHasDoesNotWait) {
  Line line = connect();
  assign(kFirst);
  assign(kFirst);
  EXPECT_EQ(heard(line), (Lines{"assigned c1", "assigned c1"}));
  EXPECT_EQ(agent.topics.size(), 1U);
}

TEST_F(CourierTest, WhatStillWaitsAtTheEndIsGivenBack) {
  agent.capacity_max = 0;
  {
    Courier short_lived(here.shard, here.back(), sessions, directory, tracer, metrics);
    short_lived.receive({.to = agent.self,
                         .conversation = kFirst,
                         .frame = make_frame(there.pool(), wire::Assigned{.conversation = "c1"}),
                         .lane = Lane::live_assigned,
                         .to_endpoint = true});
    EXPECT_EQ(there.outstanding(), 1U);
  }
  here.flush();
  there.turn();
  EXPECT_EQ(there.outstanding(), 0U);
}

// -- conversations whose missed items are on the way --

TEST_F(CourierTest, LiveItemsAreNotForTheConnectionThatHoldsTheConversation) {
  Line holding = connect();
  Line other = connect();
  holding.session.held.push_back(name_of(kFirst));
  say(kFirst, "live");
  say(kSecond, "of another");
  give_one(Lane::page, holding.session, kFirst, wire::Message{.conversation = "c1", .text = "missed"});
  EXPECT_EQ(heard(holding), (Lines{"message c2 of another", "message c1 missed"}));
  EXPECT_EQ(heard(other), (Lines{"message c1 live", "message c2 of another"}));
}

TEST_F(CourierTest, AReleaseLetsLiveItemsThroughAgain) {
  Line line = connect();
  line.session.held = {name_of(kFirst), name_of(kSecond)};
  give_one(Lane::release, line.session, kFirst, wire::Resumed{.conversation = "c1"});
  say(kFirst, "live");
  say(kSecond, "still held");
  EXPECT_EQ(heard(line), (Lines{"resumed c1", "message c1 live"}));
}

TEST_F(CourierTest, AnUnassignedReachesWhoHoldsTheConversationAndEndsItsResume) {
  Line line = connect();
  assign(kFirst);
  EXPECT_EQ(heard(line), Lines{"assigned c1"});
  line.session.held.push_back(name_of(kFirst));
  const uint64_t cursor = Handle(0, 3, 4).bits();
  give_one(Lane::page, line.session, kFirst, wire::Message{.conversation = "c1", .text = "missed"});
  unassign(kFirst);
  give_one(Lane::page_end, line.session, kFirst, wire::Message{.conversation = "c1", .text = "late"}, cursor);
  give_one(Lane::release, line.session, kFirst, wire::Resumed{.conversation = "c1"});
  EXPECT_EQ(heard(line), (Lines{"message c1 missed", "unassigned c1"}));
  ASSERT_EQ(pages.size(), 1U);
  EXPECT_TRUE(pages[0].gone) << "no further page is made";
  assign(kFirst);
  say(kFirst, "live");
  EXPECT_EQ(heard(line), (Lines{"assigned c1", "message c1 live"}));
}

TEST_F(CourierTest, AResumeWaitsBehindTheAssignedOfItsConversation) {
  Line line = connect();
  assign(kFirst);
  line.session.held.push_back(name_of(kSecond));
  assign(kSecond);
  say(kSecond, "live");
  give_one(Lane::page, line.session, kSecond, wire::Message{.conversation = "c2", .text = "live"});
  give_one(Lane::release, line.session, kSecond, wire::Resumed{.conversation = "c2"});
  EXPECT_EQ(heard(line), Lines{"assigned c1"});
  unassign(kFirst);
  EXPECT_EQ(heard(line), (Lines{"unassigned c1", "message c2 live", "resumed c2"})) << "once";
}

TEST_F(CourierTest, AnAssignedForAHolderStillMakesTheEndpointTakePart) {
  Line line = connect();
  line.session.held.push_back(name_of(kFirst));
  assign(kFirst);
  EXPECT_EQ(heard(line), Lines{});
  EXPECT_EQ(agent.topics.size(), 1U);
}

// -- lossy --

TEST_F(CourierTest, AConnectionThatIsBehindIsLeftOutOfWhatMayBeLost) {
  Line behind = connect();
  Line quick = connect();
  behind.session.write_blocked = true;
  give(Lane::live_lossy, kFirst, wire::Typing{.conversation = "c1", .on = true});
  say(kFirst, "kept");
  behind.session.write_blocked = false;
  EXPECT_EQ(heard(behind), (Lines{"message c1 kept"}));
  EXPECT_EQ(heard(quick), (Lines{"typing c1", "message c1 kept"}));
}

TEST_F(CourierTest, WhatMayBeLostIsNotKeptForAConnectionThatHoldsTheConversation) {
  Line line = connect();
  line.session.held.push_back(name_of(kFirst));
  give(Lane::live_lossy, kFirst, wire::Typing{.conversation = "c1", .on = true});
  EXPECT_EQ(heard(line), Lines{});
}

// -- pages --

TEST_F(CourierTest, ATakenPageIsReportedAtOnceWhileTheOutputIsShort) {
  Line line = connect();
  line.session.held.push_back(name_of(kFirst));
  const uint64_t cursor = Handle(0, 3, 4).bits();
  give_one(Lane::page_end, line.session, kFirst, wire::Message{.conversation = "c1"}, cursor);
  ASSERT_EQ(pages.size(), 1U);
  EXPECT_EQ(pages[0].cursor, cursor);
  EXPECT_FALSE(pages[0].gone);
}

TEST_F(CourierTest, OverTheSoftLimitAPageIsReportedWhenTheOutputHasDrained) {
  Line line = connect();
  line.session.held.push_back(name_of(kFirst));
  const std::string text(kLimits.soft_limit_bytes, 'x');
  line.session.write_blocked = true;  // as if the socket took nothing
  give_one(Lane::page_end, line.session, kFirst, wire::Message{.conversation = "c1", .text = text},
           Handle(0, 3, 4).bits());
  sessions.flush();
  EXPECT_TRUE(pages.empty());
  here.turn();
  ASSERT_EQ(pages.size(), 1U);
  EXPECT_FALSE(pages[0].gone);
}

TEST_F(CourierTest, APageOfAConnectionThatGoesIsReportedAsGone) {
  Line line = connect();
  line.session.pages_waiting.push_back(Handle(0, 3, 4).bits());
  const Handle gone = line.session.self;
  drop(gone);
  here.flush();
  courier.receive({.to = gone,
                   .frame = make_frame(there.pool(), wire::Pong{}),
                   .cursor = Handle(0, 3, 5).bits(),
                   .lane = Lane::page_end});
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_TRUE(pages[0].gone && pages[1].gone);
}

TEST_F(CourierTest, AForeignPagersCursorIsReportedByMail) {
  Line line = connect();
  line.session.held.push_back(name_of(kFirst));
  const uint64_t cursor = Handle(1, 3, 4).bits();
  give_one(Lane::page_end, line.session, kFirst, wire::Message{.conversation = "c1"}, cursor);
  here.flush();
  there.turn();
  ASSERT_EQ(there.program.received.size(), 1U);
  EXPECT_EQ(there.program.received[0].kind, static_cast<uint32_t>(MailKind::page_taken));
  EXPECT_EQ(there.program.received[0].as<PageTaken>().cursor, cursor);
  EXPECT_TRUE(pages.empty());
}

// -- answers --

TEST_F(CourierTest, AnAnswerToASendEndsOneInFlight) {
  Line line = connect();
  line.session.inflight = 2;
  give_one(Lane::send_answer, line.session, kFirst, wire::Ack{.conversation = "c1"});
  courier.answer(line.session.self, wire::Ack{.conversation = "c2"}, Lane::send_answer);
  EXPECT_EQ(line.session.inflight, 0U);
  EXPECT_EQ(heard(line), (Lines{"ack c1", "ack c2"}));
}

TEST_F(CourierTest, AnAnswerForAnotherShardTravelsAsADelivery) {
  courier.answer(Handle(1, 1, 9), wire::Pong{.ref = 5}, Lane::answer);
  here.flush();
  there.turn();
  ASSERT_EQ(there.program.received.size(), 1U);
  const auto delivery = there.program.received[0].as<Delivery>();
  EXPECT_EQ(delivery.to, Handle(1, 1, 9));
  EXPECT_EQ(frame_json(*delivery.frame), R"({"type":"pong","ref":5})");
  there.back().release(delivery.frame);
  there.flush();
  here.turn();
  EXPECT_EQ(here.outstanding(), 0U);
}

}  // namespace
}  // namespace taut::gateway
