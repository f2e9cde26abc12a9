#include "load/floor_relay.h"

#include <gtest/gtest.h>

#include <thread>

#include "load/pair_client.h"
#include "load/protocol_relay.h"

namespace taut::load {
namespace {

constexpr int64_t kPatientNs = 20'000'000'000;

class RunningRelay {
 public:
  RunningRelay(FloorKind kind, bool ack) : relay_(FloorOptions{.kind = kind, .ack = ack}) {
    port_ = relay_.listen().value();
    thread_ = std::thread([this] { relay_.run(); });
  }
  ~RunningRelay() {
    relay_.stop();
    thread_.join();
  }

  Url url() const { return {.scheme = "relay", .host = "127.0.0.1", .port = port_, .path = "/"}; }

 private:
  FloorRelay relay_;
  uint16_t port_ = 0;
  std::thread thread_;
};

class FloorRelayTest : public testing::TestWithParam<std::tuple<FloorKind, bool, uint32_t>> {};

TEST_P(FloorRelayTest, DeliversEverythingToTheRightReceiverAndAcknowledgesWhenAsked) {
  const auto [kind, ack, size] = GetParam();
  RunningRelay relay(kind, ack);
  LoadChatOptions options;
  options.pairs = 5;
  options.size = size;
  const std::unique_ptr<Protocol> protocol = make_relay_protocol(relay.url(), options);
  Result<Session> session = protocol->open();
  ASSERT_TRUE(session) << session.error().message;
  SystemClock clock;
  Pace pace;
  pace.inflight = 32;
  pace.drain_ns = kPatientNs;
  PairClient client(*session, *protocol, pace, clock);
  for (int phase = 0; phase < 2; ++phase) {
    const Result<PhaseResult> result = client.drive(20'000'000);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_GE(result->sent, 5U * 32);
    EXPECT_EQ(result->delivered, result->sent);
    EXPECT_EQ(result->acks, ack ? result->sent : 0);
    EXPECT_FALSE(result->faults.any());
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, FloorRelayTest,
                         testing::Combine(testing::Values(FloorKind::epoll, FloorKind::spin), testing::Bool(),
                                          testing::Values(kTextBytesMin, 1024U, kTextBytesMax)));

TEST(FloorRelay, StopsASenderWhoseReceiverDoesNotRead) {
  RunningRelay relay(FloorKind::epoll, false);
  LoadChatOptions options;
  options.pairs = 1;
  const std::unique_ptr<Protocol> protocol = make_relay_protocol(relay.url(), options);
  Result<Session> session = protocol->open();
  ASSERT_TRUE(session) << session.error().message;
  TcpSocket& receiver = session->connections[0].socket;
  TcpSocket& sender = session->connections[1].socket;
  const std::string megabyte(1 << 20, 'm');
  sender.set_deadline(1);
  size_t taken = 0;
  while (taken < (256U << 20) && sender.send_all(megabyte)) taken += megabyte.size();
  EXPECT_LT(taken, 256U << 20) << "the relay keeps what nobody reads";
  std::string received;
  while (received.size() < taken)
    ASSERT_TRUE(receiver.receive_some(received));  // and goes on when somebody does
}

TEST(FloorRelay, RefusesASenderWithoutAReceiverAndASecondReceiver) {
  RunningRelay relay(FloorKind::epoll, false);
  const auto answer = [&](TcpSocket& socket, std::string_view line) {
    std::string received;
    EXPECT_TRUE(socket.send_all(line));
    return socket.receive_some(received) ? received : "closed";
  };
  std::vector<TcpSocket> sockets;
  sockets.reserve(5);
  for (int i = 0; i < 5; ++i) sockets.push_back(TcpSocket::dial(relay.url()).value());
  EXPECT_EQ(answer(sockets[0], "pair 1 send\n"), "closed");
  EXPECT_EQ(answer(sockets[1], "pair 1 recv\n"), kRelayOk);
  EXPECT_EQ(answer(sockets[2], "pair 1 recv\n"), "closed");
  EXPECT_EQ(answer(sockets[3], "pair x recv\n"), "closed");
  EXPECT_EQ(answer(sockets[4], "pair 1 send\n"), kRelayOk);
}

}  // namespace
}  // namespace taut::load
