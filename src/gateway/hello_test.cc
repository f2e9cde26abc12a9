#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "auth/jwt.h"
#include "gateway/conversation_id.h"
#include "gateway/dialogue.h"
#include "gateway/far_end.h"
#include "hub/hand_turned_shard.h"
#include "wire/padding.h"

namespace taut::gateway {
namespace {

constexpr uint32_t kHelloShards = 2;
constexpr Handle kElsewhere(1, 1, 1);  // a conversation of the other shard

/// Somebody whose home is shard 0.
std::string at_home_here(Role role) {
  std::string id = "p1";
  for (int i = 2; shard_of(partition_of(role, id), kHelloShards) != 0; ++i) id = "p" + std::to_string(i);
  return id;
}

/// People come to shard 0. Shard 1 has the dispatcher, the committer and other conversations, and is silent.
class HelloTest : public testing::Test {
 protected:
  HelloTest() {
    sessions.set_events(dialogue);
    courier.set_page_listener(conversations);
    here.program.at_flush = [this] { sessions.flush(); };
  }
  ~HelloTest() override {
    for (const Handle handle : all) {
      if (Session* session = sessions.find(handle); session != nullptr) sessions.drop(*session);
    }
    conversations.on_durable({.records = feed.number()});
    here.flush();
    there.turn();
    for (const Mail& mail : there.program.received) give_back(mail);
    there.flush();
    here.turn();
  }

  void give_back(const Mail& mail) {
    switch (static_cast<MailKind>(mail.kind)) {
      case MailKind::journal_record:
        return there.back().release(mail.as<JournalMail>().block);
      case MailKind::agent_request:
        return there.back().release(mail.as<RequestMail>().request);
      case MailKind::agent_connected:
      case MailKind::agent_disconnected:
        return there.back().release(mail.as<AgentMail>().id);
      default:
        return;
    }
  }

  struct Line {
    Session& session;
    FarEnd far;
  };
  Line connect() {
    auto [near, far] = socket_pair();
    Session* session = sessions.accept(net::ByteStream(std::move(near)), {}, Carrier::compact);
    all.push_back(session->self);
    return {*session, FarEnd(std::move(far), Carrier::compact)};
  }
  void say(Line& line, std::string_view body) {
    std::string frame(body);
    frame.append(wire::kReadablePadding, '\0');
    dialogue.on_frame(line.session, {frame.data(), body.size()});
  }
  void hello(Line& line, Role role, std::string_view device, std::string_view resume) {
    auth::Signer signer(secrets);
    const std::string token = signer.sign(
        {.id = at_home_here(role), .role = role, .site = settings.site, .expires_s = int64_t{1} << 33});
    say(line, R"(1::{"version":1,"role":")" + std::string(role_name(role)) + R"(","site":"demo","device":")" +
                  std::string(device) + R"(","token":")" + token + R"(","resume":[)" + std::string(resume) +
                  "]}");
  }
  static std::string point(std::string_view conversation, int epoch, int seq) {
    return R"({"conversation":")" + std::string(conversation) + R"(","epoch":)" + std::to_string(epoch) +
           R"(,"seq":)" + std::to_string(seq) + "}";
  }
  /// The only conversation of this shard's visitor.
  std::string open(Line& line) {
    say(line, R"(2::{"ref":1})");
    return directory.find(Role::visitor, at_home_here(Role::visitor))->topics.back().id;
  }
  template <class M>
  void from_elsewhere(Delivery delivery, const M& message) {
    delivery.conversation = kElsewhere;
    delivery.frame = make_frame(there.pool(), message);
    courier.receive(delivery);
  }
  Lines heard(Line& line) {
    here.flush();
    return line.far.read();
  }

  static std::vector<auth::Secret> a_secret() {
    std::vector<auth::Secret> secrets;
    secrets.emplace_back("a secret that only this test knows");
    return secrets;
  }

  ManualClock clock;
  Mesh mesh{{.members = kHelloShards}};
  hub::HandTurnedShard here{0, mesh, clock};
  hub::HandTurnedShard there{1, mesh, clock};
  GatewayMetrics metrics;
  Settings settings;
  const auth::Secrets secrets{a_secret()};
  Published<CannedReplies> replies{std::make_shared<const CannedReplies>()};
  Sessions sessions{here.shard,
                    here.back(),
                    metrics,
                    {.frame_bytes_max = 4'096,
                     .soft_limit_bytes = 1U << 20,
                     .hard_limit_bytes = 10U << 20,
                     .slow_reader_ns = 2'000'000'000,
                     .hello_timeout_ns = 10'000'000'000,
                     .ping_ns = 25'000'000'000}};
  hub::Directory directory{0, 10};
  Tracer tracer{clock, metrics, {}};
  Courier courier{here.shard, here.back(), sessions, directory, tracer, metrics};
  JournalFeed feed{here.shard, metrics, {.mode = wire::Durability::durable_before_deliver, .committer = 1}};
  DurableCourier durable_courier{here.shard, courier, feed};
  GroupRules rules;
  Conversations conversations{here.shard,
                              here.back(),
                              durable_courier,
                              feed,
                              directory,
                              tracer,
                              metrics,
                              {.groups = {"default"},
                               .conversations_max = 8,
                               .history_items = 300,
                               .accept_ms = 30'000,
                               .pool_bytes_max = size_t{64} << 20,
                               .dispatcher = 1,
                               .shards = kHelloShards,
                               .rules = rules}};
  Dialogue dialogue{here.shard,
                    sessions,
                    directory,
                    courier,
                    conversations,
                    tracer,
                    metrics,
                    settings,
                    secrets,
                    replies,
                    {.shards = kHelloShards, .http_service = 1, .dispatcher = 1}};
  std::vector<Handle> all;
};

TEST_F(HelloTest, AClosedConversationIsResumedInOrderWhileItsEndWaitsForTheDisk) {
  Line first = connect();
  hello(first, Role::visitor, "d1", {});
  const std::string id = open(first);
  say(first, "13:" + id + R"(:{"ref":2})");
  Line second = connect();
  hello(second, Role::visitor, "d2", point(id, 0, 0));
  EXPECT_EQ(heard(second), Lines{"welcome"});
  conversations.on_durable({.records = feed.number()});
  EXPECT_EQ(heard(second), (Lines{"event " + id, "event " + id, "resumed " + id}));
}

TEST_F(HelloTest, WhatOneNamesAndIsNotThereIsAGapAndHoldsNothingBack) {
  Line line = connect();
  hello(line, Role::visitor, "d1", point("c000-1-1", 1, 5) + "," + point("c000-1-1", 1, 6));
  EXPECT_EQ(heard(line), (Lines{"welcome", "gap c000-1-1"}));
  EXPECT_TRUE(line.session.held.empty());
}

TEST_F(HelloTest, AnAgentWhoNamesWhatIsJustBeingAssignedHearsItFromTheResumeAlone) {
  const std::string id = make_conversation_id(1, 1, 1);
  Line line = connect();
  hello(line, Role::agent, "d1", point(id, 1, 1));
  EXPECT_EQ(heard(line), Lines{"welcome"});
  const Handle agent = directory.find(Role::agent, at_home_here(Role::agent))->self;
  from_elsewhere({.to = agent, .lane = Lane::live_assigned, .to_endpoint = true},
                 wire::Assigned{.conversation = id, .visitor_id = "v", .group = "default"});
  from_elsewhere({.to = agent, .lane = Lane::live, .to_endpoint = true},
                 wire::Message{.conversation = id, .text = "missed"});
  EXPECT_EQ(heard(line), Lines{});
  from_elsewhere({.to = line.session.self, .lane = Lane::page},
                 wire::Assigned{.conversation = id, .visitor_id = "v", .group = "default"});
  from_elsewhere({.to = line.session.self, .lane = Lane::page},
                 wire::Message{.conversation = id, .text = "missed"});
  from_elsewhere({.to = line.session.self, .lane = Lane::release}, wire::Resumed{.conversation = id});
  from_elsewhere({.to = agent, .lane = Lane::live, .to_endpoint = true},
                 wire::Message{.conversation = id, .text = "live"});
  EXPECT_EQ(heard(line), (Lines{"assigned " + id, "message " + id + " missed", "resumed " + id,
                                "message " + id + " live"}));
}

}  // namespace
}  // namespace taut::gateway
