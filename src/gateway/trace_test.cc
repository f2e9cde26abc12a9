// A message is followed through two shards, turned by hand, while each stage in turn is made slow.
#include "gateway/trace.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "auth/jwt.h"
#include "base/clock.h"
#include "core/mesh.h"
#include "gateway/chat_program.h"
#include "net/socket.h"
#include "wire/websocket_client.h"

namespace taut::gateway {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(Trace, BlamesTheLongestStageAndSumsToTheTotal) {
  Trace trace{.started_ns = 100, .last_ns = 100};
  trace.lap(Stage::parse, 150);
  trace.lap(Stage::ring, 450);
  trace.lap(Stage::write, 460);
  EXPECT_EQ(trace.blame(), Stage::ring);
  EXPECT_EQ(trace.total_ns(), 360);
  EXPECT_EQ(std::reduce(trace.stage_ns.begin(), trace.stage_ns.end()), 360U);
}

TEST(Trace, AStageBeyondItsFieldKeepsTheSum) {
  Trace trace{.started_ns = 0, .last_ns = 0};
  trace.lap(Stage::ring, int64_t{1} << 40);
  EXPECT_EQ(trace.total_ns(), int64_t{UINT32_MAX});
}

/// Two chat shards under one manual clock.
class TracedServer : public testing::Test {
 protected:
  static constexpr uint32_t kShards = 2;

  struct Member {
    std::unique_ptr<Poller> poller = std::move(*make_epoll_poller());
    std::unique_ptr<LogRing> log;
    std::unique_ptr<Shard> shard;
    std::unique_ptr<ChatProgram> program;
    GatewayMetrics metrics;
  };

  Published<CannedReplies> replies{std::make_shared<const CannedReplies>()};

  TracedServer() {
    settings.groups = {"sales"};
    settings.trace_every = 1;
    settings.ping_ms = 3'600'000;  // nobody here answers a ping
    for (ShardId id = 0; id < kShards; ++id) {
      Member& m = members[id];
      m.log = std::make_unique<LogRing>(id);
      Shard::Options options{.id = id};
      options.pool = {.home = static_cast<uint16_t>(id), .base_bytes = 0, .bytes_max = size_t{256} << 20};
      m.shard = std::make_unique<Shard>(options, clock, *m.poller, mesh, *m.log);
      m.program = std::make_unique<ChatProgram>(
          settings, rules, secrets, Layout{.chat_shards = kShards}, Door{.listener = listener.get()}, replies,
          Beginning{.process_start_ms = clock.wall_ms()}, m.metrics, [] {});
      m.program->set_trace_hook([this](Stage stage) {
        if (stage == slow) clock.advance_ns(delay_ns);
      });
      m.shard->begin(*m.program);
    }
  }
  ~TracedServer() override {
    for (Member& m : members) m.program->stop();
    clients.clear();
    for (int i = 0; i < 200; ++i) turn();
  }

  void turn() {
    for (Member& m : members) m.shard->turn(*m.program);
  }

  struct Client {
    net::Fd fd;
    std::string unread;
    wire::WsDecoder decoder = wire::ws_client_decoder(1 << 20);
  };

  /// A client whose home is `home`, which said hello.
  Client& connect(Role role, ShardId home) {
    std::string id;
    for (int i = 0; id.empty(); ++i) {
      const std::string candidate = "p" + std::to_string(i);
      if (shard_of(partition_of(role, candidate), kShards) == home) id = candidate;
    }
    Client& client = *clients.emplace_back(std::make_unique<Client>());
    client.fd = net::Fd(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    const std::string at = net::local_address(listener.get());
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(at.substr(at.rfind(':') + 1))));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(client.fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    const std::string key = "dGhlIHNhbXBsZSBub25jZQ==";
    write(client, wire::ws_upgrade_request(at, "/v1/chat", key, ""));
    for (int i = 0; i < 1'000; ++i) {
      receive(client);
      const wire::WsUpgradeAnswer answer = wire::parse_ws_upgrade_answer(client.unread, key);
      if (answer.kind != wire::WsUpgradeAnswer::Kind::accepted) continue;
      client.unread.erase(0, answer.consumed);
      break;
    }
    auth::Claims claims{
        .id = id, .role = role, .site = settings.site, .expires_s = clock.wall_ms() / 1'000 + 3'600};
    claims.group_count = role == Role::agent ? 1 : 0;
    claims.group_ids[0] = "sales";
    const std::string token(signer.sign(claims));
    say(client, R"({"type":"hello","version":1,"role":")" + std::string(role_name(role)) + R"(","site":")" +
                    settings.site + R"(","device":"d","token":")" + token + "\"}");
    hear(client, R"("type":"welcome")");
    return client;
  }
  static void write(Client& client, std::string_view bytes) {
    EXPECT_EQ(::send(client.fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  static void say(Client& client, std::string_view json) {
    std::string frame(wire::ws_client_header_size(json.size()) + json.size(), '\0');
    write(client, {frame.data(), wire::write_ws_client_frame(frame, wire::WsOpcode::text, json, 0x12345678)});
  }
  void receive(Client& client) {
    turn();
    std::array<char, 65'536> some{};
    const ssize_t n = ::recv(client.fd.get(), some.data(), some.size(), MSG_DONTWAIT);
    if (n > 0) client.unread.append(some.data(), static_cast<size_t>(n));
  }
  /// Waits for a message that contains `part`.
  std::string hear(Client& client, std::string_view part) {
    for (int i = 0; i < 10'000; ++i) {
      receive(client);
      for (;;) {
        std::string buffer = client.unread + std::string(wire::kReadablePadding, '\0');
        const wire::WsOutcome outcome = client.decoder.next({buffer.data(), client.unread.size()});
        if (outcome.kind != wire::WsOutcome::Kind::message) break;
        const std::string text(outcome.text());
        client.unread.erase(0, outcome.consumed);
        if (text.find(part) != std::string::npos) return text;
      }
    }
    ADD_FAILURE() << "never came: " << part;
    return {};
  }
  static std::string field(const std::string& json, const std::string& name) {
    const std::string begin = "\"" + name + "\":\"";
    const size_t from = json.find(begin) + begin.size();
    return json.substr(from, json.find('"', from) - from);
  }

  /// The slowest message of the newest minute, on whichever shard wrote it.
  SlowestBoard::Entry slowest() {
    SlowestBoard::Entry found;
    for (const Member& m : members) {
      for (const SlowestBoard::Minute& minute : m.metrics.slowest.minutes()) {
        if (minute.count > 0 && minute.entries[0].trace.started_ns > found.trace.started_ns)
          found = minute.entries[0];
      }
    }
    return found;
  }

  ManualClock clock;
  Mesh mesh{{.members = kShards + 1}};
  GroupRules rules;
  Settings settings;
  auth::Secrets secrets{[] {
    std::vector<auth::Secret> all;
    all.emplace_back(std::string(32, 's'));
    return all;
  }()};
  auth::Signer signer{secrets};
  net::Fd listener = std::move(*net::listen_on("127.0.0.1:0"));
  std::array<Member, kShards> members;
  std::vector<std::unique_ptr<Client>> clients;
  Stage slow = Stage::turn;  // none: sampled messages do not have it
  int64_t delay_ns = 5 * kMs;
};

TEST_F(TracedServer, EachStageIsBlamedForItsOwnDelay) {
  Client& agent = connect(Role::agent, 1);
  say(agent, R"({"type":"presence","ref":1,"status":"online"})");
  Client& visitor = connect(Role::visitor, 0);
  say(visitor, R"({"type":"open","ref":1,"group":"sales"})");
  const std::string conversation = field(hear(agent, R"("type":"assigned")"), "conversation");
  say(agent, R"({"type":"accept","ref":2,"conversation":")" + conversation + "\"}");
  hear(agent, R"("ref":2)");
  int sent = 0;
  const auto send = [&](Client& from, Client& to) {
    const std::string text = "text-" + std::to_string(++sent);
    say(from, R"({"type":"send","ref":3,"conversation":")" + conversation + R"(","client_msg_id":"m)" +
                  std::to_string(sent) + R"(","text":")" + text + "\"}");
    hear(to, text);
  };
  for (const bool from_visitor : {true, false}) {
    for (const Stage stage : {Stage::parse, Stage::decide, Stage::route, Stage::ring, Stage::write}) {
      clock.advance_ns(60'000 * kMs);  // a minute of its own
      slow = stage;
      from_visitor ? send(visitor, agent) : send(agent, visitor);
      slow = Stage::turn;
      const SlowestBoard::Entry entry = slowest();
      EXPECT_EQ(entry.id(), conversation);
      EXPECT_EQ(entry.trace.blame(), stage) << kStageNames[static_cast<size_t>(stage)];
      EXPECT_GE(entry.trace.stage_ns[static_cast<size_t>(stage)], delay_ns);
      EXPECT_EQ(std::reduce(entry.trace.stage_ns.begin(), entry.trace.stage_ns.end()),
                entry.trace.total_ns());
      EXPECT_GT(entry.trace.seq, 0U);
    }
  }
}

}  // namespace
}  // namespace taut::gateway
