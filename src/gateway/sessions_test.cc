#include "gateway/sessions.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "gateway/far_end.h"
#include "hub/hand_turned_shard.h"
#include "net/certificate_testing.h"
#include "net/tls.h"

namespace taut::gateway {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

/// Sessions on a shard that has lived for a while, and nobody above them.
class SessionsTest : public testing::Test, protected SessionEvents {
 protected:
  SessionsTest() {
    clock.advance_ns(3'600 * kSecond);
    sessions.set_events(*this);
    here.program.handle_event = [this](const PollEvent& event) { sessions.on_event(event); };
    here.program.handle_timer = [this](Timer& timer) { sessions.on_timer(timer); };
    here.program.at_flush = [this] { sessions.flush(); };
    here.turn();
  }
  ~SessionsTest() override { here.flush(); }

  size_t on_http(Session& /*session*/, std::string_view bytes) override { return bytes.size(); }
  void on_frame(Session& /*session*/, std::span<char> /*frame*/) override {}
  void on_leave(Session& /*session*/, net::ByteStream /*stream*/, std::string_view /*unread*/,
                std::string /*unsent*/) override {}
  void on_gone(Session& /*session*/) override {}
  void on_drained(Session& /*session*/) override {}

  /// Turns once a second; how many seconds it takes until nobody is left.
  int seconds_until_gone() {
    for (int seconds = 0; seconds < 60; ++seconds) {
      if (sessions.size() == 0) return seconds;
      clock.advance_ns(kSecond);
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
                     .slow_reader_ns = kSecond,
                     .hello_timeout_ns = 10 * kSecond,
                     .ping_ns = 25 * kSecond}};
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
  EXPECT_GE(here.shard.timers().next_deadline_ns(), clock.mono_ns() + kSecond);
  const int seconds = seconds_until_gone();
  EXPECT_GE(seconds, 10);
  EXPECT_LE(seconds, 13);
}

}  // namespace
}  // namespace taut::gateway
