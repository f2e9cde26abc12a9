#include "gateway/sessions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "gateway/far_end.h"
#include "hub/hand_turned_shard.h"
#include "net/certificate_testing.h"
#include "net/tls.h"
#include "wire/deflate.h"
#include "wire/websocket_client.h"

namespace taut::gateway {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

/// Sessions on a shard that has lived for a while, and nobody above them.
class SessionsTest : public testing::Test, protected SessionEvents {
 protected:
  SessionsTest() {
    clock.advance_ns(3'600 * kSecondNs);
    sessions.set_events(*this);
    here.program.handle_event = [this](const PollEvent& event) { sessions.on_event(event); };
    here.program.handle_timer = [this](Timer& timer) { sessions.on_timer(timer); };
    here.program.at_flush = [this] { sessions.flush(); };
    here.turn();
  }
  ~SessionsTest() override { here.flush(); }

  size_t on_http(Session& /*session*/, std::string_view bytes) override { return bytes.size(); }
  void on_frame(Session& /*session*/, std::span<char> frame) override { frames.emplace_back(frame.size()); }
  void on_leave(Session& /*session*/, net::ByteStream /*stream*/, std::string_view /*unread*/,
                std::string /*unsent*/) override {}
  void on_gone(Session& /*session*/) override {}
  void on_drained(Session& /*session*/) override {}

  /// Turns once a second; how many seconds it takes until nobody is left.
  int seconds_until_gone() {
    for (int seconds = 0; seconds < 60; ++seconds) {
      if (sessions.size() == 0) return seconds;
      clock.advance_ns(kSecondNs);
      here.turn();
      here.flush();
    }
    return -1;
  }

  ManualClock clock;
  Mesh mesh{{.members = 1}};
  hub::HandTurnedShard here{0, mesh, clock};
  GatewayMetrics metrics;
  Sessions sessions{here.shard,
                    here.back(),
                    metrics,
                    {.frame_bytes_max = 32'768,
                     .soft_limit_bytes = 65'536,
                     .hard_limit_bytes = 1 << 20,
                     .slow_reader_ns = kSecondNs,
                     .hello_timeout_ns = 10 * kSecondNs,
                     .ping_ns = 25 * kSecondNs,
                     .deflate = true}};
  std::vector<size_t> frames;  ///< sizes of those that arrived
};

/// Plain, or with TLS.
class SilentSession : public SessionsTest, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Encrypted, SilentSession, testing::Bool());

TEST_P(SilentSession, LetsTheShardParkAndIsClosedWhenItsTimeIsOver) {
  const net::CertificateFiles files("sessions");
  const auto context = net::TlsContext::load(files.cert(), files.key());
  ASSERT_TRUE(context);
  auto [near, far] = socket_pair();
  const int fd = near.get();
  Session* session = sessions.accept(GetParam() ? net::ByteStream(std::move(near), (*context)->session(fd))
                                                : net::ByteStream(std::move(near)),
                                     {}, Carrier::websocket);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->phase, GetParam() ? Session::Phase::tls : Session::Phase::http);
  EXPECT_GE(here.shard.timers().next_deadline_ns(), clock.mono_ns() + kSecondNs);
  const int seconds = seconds_until_gone();
  EXPECT_GE(seconds, 10);
  EXPECT_LE(seconds, 13);
}

/// Many at once who have not said who they are.
class SessionsInAStorm : public SessionsTest {
 protected:
  static constexpr uint32_t kOthers = 3 * Sessions::kComingsAndGoingsPerTurn;

  SessionsInAStorm() {
    for (uint32_t i = 0; i < kOthers; ++i) {
      auto [near, far_end] = socket_pair();
      EXPECT_NE(sessions.accept(net::ByteStream(std::move(near)), {}, Carrier::compact), nullptr);
      others.push_back(std::move(far_end));
    }
  }

  std::vector<net::Fd> others;
};

TEST_F(SessionsInAStorm, EnterAFewInATurn) {
  for (const net::Fd& other : others) ASSERT_EQ(::write(other.get(), "2:hi,", 5), 5);
  for (uint32_t turns = 1; turns <= 3; ++turns) {
    here.turn();
    EXPECT_EQ(frames.size(), turns * Sessions::kComingsAndGoingsPerTurn);
  }
}

TEST_F(SessionsInAStorm, AreFoundGoneAFewInATurn) {
  others.clear();
  for (uint32_t turns = 1; turns <= 3; ++turns) {
    here.turn();
    EXPECT_EQ(sessions.size(), kOthers - turns * Sessions::kComingsAndGoingsPerTurn);
  }
}

/// A session in phase hello that agreed on permessage-deflate.
class DeflateSession : public SessionsTest {
 protected:
  DeflateSession() {
    auto [near, far_end] = socket_pair();
    far = std::move(far_end);
    session = sessions.accept(net::ByteStream(std::move(near)), {}, Carrier::websocket);
    session->phase = Session::Phase::hello;
    session->connection.decoder().allow_deflate();
  }

  /// A client's frame with the text of so many bytes, compressed.
  static std::string compressed(size_t bytes) {
    wire::Deflater deflater(1U << 20);
    const std::string text(bytes, 'x');
    const std::string payload(deflater.deflate(text));
    std::string frame(wire::ws_client_header_size(payload.size()) + payload.size(), '\0');
    wire::write_ws_client_frame(frame, wire::WsOpcode::text, payload, 7);
    frame[0] = static_cast<char>(frame[0] | 0x40);
    return frame;
  }
  void say(const std::string& bytes) const {
    ASSERT_EQ(::write(far.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }

  net::Fd far;
  Session* session = nullptr;
};

TEST_F(DeflateSession, InflatesNoMoreInATurnThanOneReadBringsAndOneMessage) {
  std::string many;
  for (int i = 0; i < 10; ++i) many += compressed(10'000);
  say(many);
  here.turn();
  EXPECT_EQ(frames.size(), 4U) << "the fourth passes 32 KiB";
  EXPECT_TRUE(sessions.has_work());
  sessions.continue_work();
  EXPECT_EQ(frames.size(), 8U);
  sessions.continue_work();
  EXPECT_EQ(frames, std::vector<size_t>(10, 10'000));
  EXPECT_FALSE(sessions.has_work());
}

TEST_F(DeflateSession, IsClosedForAMessageThatBecomesTooLong) {
  say(compressed(32'768) + compressed(32'769));
  here.turn();
  sessions.continue_work();
  EXPECT_EQ(frames, std::vector<size_t>{32'768});
  EXPECT_EQ(session->phase, Session::Phase::closing);
  EXPECT_EQ(metrics.closed_protocol.load(), 1U);
}

TEST_F(DeflateSession, InflatesNothingOnceItIsClosing) {
  sessions.close(*session, wire::CloseCode::draining, "");
  say("\xC1\x82" + std::string(4, '\0') + "\xFF\xFF");  // which could not be inflated
  here.turn();
  EXPECT_EQ(session->phase, Session::Phase::closing);
  EXPECT_EQ(metrics.closed_protocol.load(), 0U);
}

}  // namespace
}  // namespace taut::gateway
