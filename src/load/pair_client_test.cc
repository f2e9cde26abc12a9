#include "load/pair_client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <functional>
#include <thread>

#include "load/latency_report.h"
#include "load/protocol_relay.h"

namespace taut::load {
namespace {

constexpr uint32_t kTextBytes = 100;
constexpr size_t kFrameBytes = kRelayHeaderBytes + kTextBytes;
constexpr int64_t kShortNs = 50'000'000;
constexpr int64_t kPairPatientNs =
    20'000'000'000;  // for runs that lose nothing: no limit that a busy machine reaches

// A server of one pair that may do to each message what it likes: it gets the index of a message and its
// frame, and returns what the receiver shall see.
class CrookedServer {
 public:
  using Trick = std::function<std::string(uint32_t index, const std::string& frame)>;

  explicit CrookedServer(Trick trick, size_t piece_bytes = kFrameBytes)
      : trick_(std::move(trick)), piece_bytes_(piece_bytes) {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, in.data()), 0);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, out.data()), 0);
    session_.text_bytes = kTextBytes;
    session_.connections.push_back({.socket = TcpSocket(in[0]), .received = {}});
    session_.connections.push_back({.socket = TcpSocket(out[0]), .received = {}});
    FramePrototype frame;
    frame.bytes = std::string(kRelayHeaderBytes, '\0') + blank_text(kTextBytes);
    frame.bytes[0] = static_cast<char>(kTextBytes);
    frame.stamp_at = kRelayHeaderBytes;
    session_.flows.push_back({.from = 0, .to = 1, .frame = frame});
    thread_ =
        std::thread([this, from = TcpSocket(in[1]), to = TcpSocket(out[1])]() mutable { serve(from, to); });
  }
  ~CrookedServer() {
    session_.connections.clear();
    thread_.join();
  }

  Result<PhaseResult> drive(Pace pace, int64_t duration_ns) {
    const std::unique_ptr<Protocol> protocol = make_relay_protocol({}, {});
    PairClient client(session_, *protocol, pace, clock_);
    return client.drive(duration_ns);
  }

 private:
  void serve(TcpSocket& from, TcpSocket& to) {
    std::string received;
    for (uint32_t index = 0; from.receive_some(received);) {
      while (received.size() >= kFrameBytes) {
        std::string out = trick_(index++, received.substr(0, kFrameBytes));
        received.erase(0, kFrameBytes);
        while (!out.empty()) {
          const std::string piece = out.substr(0, piece_bytes_);
          if (!to.send_all(piece)) return;
          out.erase(0, piece.size());
        }
      }
    }
  }

  const Trick trick_;
  const size_t piece_bytes_;
  SystemClock clock_;
  Session session_;
  std::thread thread_;
};

std::string honest(uint32_t, const std::string& frame) {
  return frame;
}

Pace closed(uint32_t inflight, int64_t drain_ns) {
  Pace pace;
  pace.inflight = inflight;
  pace.drain_ns = drain_ns;
  return pace;
}

Pace open(uint32_t rate, int64_t drain_ns) {
  Pace pace;
  pace.rate = rate;
  pace.drain_ns = drain_ns;
  return pace;
}

TEST(PairClient, CountsEveryMessageOfAnHonestServerOnce) {
  CrookedServer server(honest);
  const Result<PhaseResult> phase = server.drive(closed(4, kPairPatientNs), kShortNs);
  ASSERT_TRUE(phase) << phase.error().message;
  EXPECT_GE(phase->sent, 4U);
  EXPECT_EQ(phase->delivered, phase->sent);
  EXPECT_EQ(phase->latency.count(), phase->delivered);
  EXPECT_FALSE(phase->faults.any());
}

TEST(PairClient, SendsWhatTheScheduleAsksForAndNothingElse) {
  CrookedServer server(honest);
  const Result<PhaseResult> phase = server.drive(open(2000, kPairPatientNs), 100'000'000);
  ASSERT_TRUE(phase) << phase.error().message;
  EXPECT_EQ(phase->sent, 200U);
  EXPECT_EQ(phase->delivered, 200U);
  EXPECT_EQ(phase->lag.count(), 200U);
}

TEST(PairClient, MeasuresFromTheIntendedTimeWhenItIsLateItself) {
  CrookedServer server(honest);
  Pace pace = open(500, kPairPatientNs);
  pace.starve_us = 100'000;
  const Result<PhaseResult> phase = server.drive(pace, 400'000'000);
  ASSERT_TRUE(phase) << phase.error().message;
  EXPECT_EQ(phase->sent, 200U);
  // Whatever the machine does, a message is never faster than the client was late with it.
  EXPECT_GE(phase->latency.percentile_ns(90), 80'000'000);
  EXPECT_GE(phase->latency.mean_ns(), phase->lag.mean_ns());
  EXPECT_NE(void_reason(*phase), "");
}

TEST(PairClient, CountsWhatItNeverCameToSend) {
  CrookedServer server(honest);
  Pace pace = open(100'000, 1);
  pace.starve_us = 100'000;
  const Result<PhaseResult> phase = server.drive(pace, 50'000'000);
  ASSERT_TRUE(phase) << phase.error().message;
  EXPECT_GT(phase->faults.unsent, 0U);
  EXPECT_EQ(phase->sent + phase->faults.unsent, 5000U);
  EXPECT_NE(void_reason(*phase), "");
}

TEST(PairClient, SeesALostMessage) {
  CrookedServer server(
      [](uint32_t index, const std::string& frame) { return index == 7 ? std::string() : frame; });
  const Result<PhaseResult> phase = server.drive(open(1000, kShortNs), kShortNs);
  ASSERT_TRUE(phase) << phase.error().message;
  EXPECT_GE(phase->faults.lost, 1U);
  EXPECT_EQ(phase->sent - phase->delivered, phase->faults.lost);
  EXPECT_NE(void_reason(*phase), "");
}

TEST(PairClient, SeesADoubledMessage) {
  CrookedServer server(
      [](uint32_t index, const std::string& frame) { return index == 3 ? frame + frame : frame; });
  const Result<PhaseResult> phase = server.drive(open(1000, kPairPatientNs), kShortNs);
  ASSERT_TRUE(phase) << phase.error().message;
  EXPECT_GE(phase->faults.disordered, 1U);
}

TEST(PairClient, SeesOvertaking) {
  std::string held;
  CrookedServer server([&held](uint32_t index, const std::string& frame) {
    if (index == 3) held = frame;
    return index == 3 ? std::string() : index == 4 ? frame + held : frame;
  });
  const Result<PhaseResult> phase = server.drive(open(1000, kPairPatientNs), kShortNs);
  ASSERT_TRUE(phase) << phase.error().message;
  EXPECT_EQ(phase->faults.lost, 0U);
  EXPECT_EQ(phase->faults.disordered, 3U);  // the overtaker, the overtaken, and the one after it
}

TEST(PairClient, SeesADamagedStampAndAShortenedText) {
  CrookedServer server([](uint32_t index, const std::string& frame) {
    std::string changed = frame;
    if (index == 3) changed[kRelayHeaderBytes + 10] ^= 1;
    if (index == 5) changed[kFrameBytes - 1] = '-';
    return changed;
  });
  const Result<PhaseResult> phase = server.drive(open(1000, kPairPatientNs), kShortNs);
  ASSERT_TRUE(phase) << phase.error().message;
  EXPECT_EQ(phase->faults.damaged, 2U);
}

TEST(PairClient, FindsFramesHoweverTheyAreCut) {
  CrookedServer server(honest, 7);
  const Result<PhaseResult> phase = server.drive(closed(3, kPairPatientNs), kShortNs);
  ASSERT_TRUE(phase) << phase.error().message;
  EXPECT_EQ(phase->delivered, phase->sent);
  EXPECT_FALSE(phase->faults.any());
}

TEST(PairClient, SaysThatTheServerBrokeTheProtocol) {
  CrookedServer server([](uint32_t, const std::string&) { return std::string(8, '\xFF'); });
  const Result<PhaseResult> phase = server.drive(closed(1, kPairPatientNs), kShortNs);
  EXPECT_FALSE(phase);
}

}  // namespace
}  // namespace taut::load
