#include "load/disturbance.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "load/latency_report.h"
#include "load/pair_client.h"
#include "load/protocol_relay.h"

namespace taut::load {
namespace {

LoadChatOptions options(Disturb disturb) {
  LoadChatOptions o;
  o.url = "ws://127.0.0.1:1/v1/chat";
  o.secret_file = "/nonexistent/secret";
  o.rate = 1;
  o.disturb = disturb;
  return o;
}

TEST(Disturbance, IsRefusedWhereItCannotBe) {
  EXPECT_EQ(make_disturbance(options(Disturb::none)).value(), nullptr);
  LoadChatOptions o = options(Disturb::storm);
  EXPECT_NE(make_disturbance(o).error().message.find("secret"), std::string::npos);
  o.rate = 0;
  EXPECT_NE(make_disturbance(o).error().message.find("--rate"), std::string::npos);
  o.rate = 1;
  o.url = "relay://127.0.0.1:1";
  EXPECT_NE(make_disturbance(o).error().message.find("ws://"), std::string::npos);
}

TEST(Disturbance, ThatDidTooLittleVoidsTheRun) {
  ChatReport report;
  report.phase.sent = report.phase.delivered = 1;
  report.phase.latency.record(1'000'000);
  report.disturbance = DisturbanceCount{.done = 89, .least = 90};
  EXPECT_NE(void_reason(report), "");
  EXPECT_NE(to_json(report).find(R"("disturbed":89)"), std::string::npos);
  report.disturbance->done = 90;
  EXPECT_EQ(void_reason(report), "");
}

// Counts its steps, and fails after a number of steps.
class Witness final : public Disturbance {
 public:
  explicit Witness(uint64_t steps_max) : steps_max_(steps_max) {}
  Status begin() override { return {}; }
  Status step(int64_t) override { return ++done_ < steps_max_ ? Status() : Status(fail("enough")); }
  double least_per_second() const override { return 1; }

 private:
  const uint64_t steps_max_;
};

// One flow whose receiver hears nothing, on connections that nobody serves.
struct Unserved {
  Unserved() {
    std::array<int, 2> in{};
    std::array<int, 2> out{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, in.data()), 0);
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, out.data()), 0);
    session.text_bytes = kTextBytesMin;
    session.connections.push_back({.socket = TcpSocket(in[0]), .received = {}});
    session.connections.push_back({.socket = TcpSocket(out[0]), .received = {}});
    far_ends = {TcpSocket(in[1]), TcpSocket(out[1])};
    FramePrototype frame;
    frame.bytes = blank_text(kTextBytesMin);
    session.flows.push_back({.from = 0, .to = 1, .frame = frame});
  }
  Result<PhaseResult> drive(Disturbance& disturbance, uint32_t rate) {
    LoadChatOptions relay;
    const std::unique_ptr<Protocol> protocol = make_relay_protocol({}, relay);
    PairClient client(session, *protocol, {.rate = rate, .drain_ns = 1}, clock, &disturbance);
    return client.drive(20'000'000);
  }
  Session session;
  std::array<TcpSocket, 2> far_ends;
  SystemClock clock;
};

TEST(PairClientDisturbed, TakesStepsWhileNoSendIsDue) {
  Unserved unserved;
  Witness witness(UINT64_MAX);
  ASSERT_TRUE(unserved.drive(witness, 1'000));
  EXPECT_GT(witness.done(), 20U);
}

TEST(PairClientDisturbed, TakesNoStepWhereSendsFollowEachOtherWithinTheGuard) {
  Unserved unserved;
  Witness witness(UINT64_MAX);
  ASSERT_TRUE(unserved.drive(witness, int64_t{2'000'000'000} / PairClient::kDisturbGuardNs));
  EXPECT_EQ(witness.done(), 0U);
}

TEST(PairClientDisturbed, EndsWithTheReasonOfTheDisturbance) {
  Unserved unserved;
  Witness witness(3);
  const Result<PhaseResult> phase = unserved.drive(witness, 1'000);
  ASSERT_FALSE(phase);
  EXPECT_EQ(phase.error().message, "enough");
}

}  // namespace
}  // namespace taut::load
