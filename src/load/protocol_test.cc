#include "load/protocol.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "load/chat_carrier.h"
#include "load/chat_connection.h"
#include "load/stamp.h"
#include "load/websocket_frames.h"
#include "wire/compact.h"

namespace taut::load {
namespace {

std::unique_ptr<Protocol> protocol_for(const std::string& url) {
  LoadChatOptions options;
  options.url = url;
  options.secret_file =
      std::filesystem::temp_directory_path() / ("protocol_test." + std::to_string(getpid()) + ".secret");
  std::ofstream(options.secret_file) << std::string(auth::kSecretBytesMin, 's');
  std::unique_ptr<Protocol> protocol = make_protocol(options).value();
  std::filesystem::remove(options.secret_file);
  return protocol;
}

Frame first_frame(const Protocol& protocol, std::string bytes) {
  const size_t size = bytes.size();
  bytes.resize(size + kFramePadding);
  return protocol.next_frame({bytes.data(), size});
}

std::string server_frame(wire::WsOpcode opcode, std::string_view payload) {
  std::string frame(wire::ws_header_size(payload.size()), '\0');
  wire::write_ws_header(frame, opcode, payload.size());
  return frame.append(payload);
}

std::string server_text(std::string_view object) {
  return server_frame(wire::WsOpcode::text, object);
}

TEST(TautProtocol, TellsMessagesFromAcksAndFromEverythingElse) {
  const std::unique_ptr<Protocol> taut = protocol_for("ws://127.0.0.1:1/v1/chat");
  const auto kind = [&](std::string_view object) { return first_frame(*taut, server_text(object)).kind; };
  EXPECT_EQ(kind(R"({"type":"message","conversation":"c","text":"x"})"), FrameKind::delivery);
  EXPECT_EQ(kind(R"({"type":"ack","ref":1,"level":"accepted"})"), FrameKind::ack);
  EXPECT_EQ(kind(R"({"type":"ack","ref":1,"level":"durable"})"), FrameKind::other);
  EXPECT_EQ(kind(R"({"type":"ack","ref":1,"level":"accepted","dup":true})"), FrameKind::other);
  EXPECT_EQ(kind(R"({"type":"event","conversation":"c"})"), FrameKind::other);
  EXPECT_EQ(kind(R"({"type":"error","code":"inflight"})"), FrameKind::broken);
}

TEST(TautProtocol, FindsTheBodyOfEveryLengthOfHeaderAndNothingInAnIncompleteFrame) {
  const std::unique_ptr<Protocol> taut = protocol_for("ws://127.0.0.1:1/v1/chat");
  for (const size_t filler : {0U, 200U, 70'000U}) {
    const std::string object = R"({"type":"message","text":")" + std::string(filler, 'x') + R"("})";
    const std::string bytes = server_text(object);
    const Frame frame = first_frame(*taut, bytes + "rest");
    EXPECT_EQ(frame.kind, FrameKind::delivery);
    EXPECT_EQ(frame.size, bytes.size());
    EXPECT_EQ(bytes.substr(frame.body_at, frame.body_size), object);
    EXPECT_EQ(first_frame(*taut, bytes.substr(0, bytes.size() - 1)).kind, FrameKind::need_more);
  }
  EXPECT_EQ(first_frame(*taut, "").kind, FrameKind::need_more);
}

TEST(TautProtocol, AnswersAPingWithItsPayloadAndTakesACloseForTheEnd) {
  const std::unique_ptr<Protocol> taut = protocol_for("ws://127.0.0.1:1/v1/chat");
  const std::string ping = server_frame(wire::WsOpcode::ping, "beat");
  EXPECT_EQ(first_frame(*taut, ping).kind, FrameKind::control);
  EXPECT_EQ(taut->answer(ping), client_frame(wire::WsOpcode::pong, "beat", kSetUpMask));
  EXPECT_EQ(first_frame(*taut, server_frame(wire::WsOpcode::close, "\x03\xE8")).kind, FrameKind::broken);
}

TEST(NatsProtocol, FindsThePayloadBehindTheLineAndAnswersPings) {
  const std::unique_ptr<Protocol> nats = protocol_for("nats://127.0.0.1:1");
  const std::string bytes = "MSG load.3 1 5\r\nhello\r\n";
  const Frame frame = first_frame(*nats, bytes + "MSG");
  EXPECT_EQ(frame.kind, FrameKind::delivery);
  EXPECT_EQ(frame.size, bytes.size());
  EXPECT_EQ(bytes.substr(frame.body_at, frame.body_size), "hello");
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_EQ(first_frame(*nats, bytes.substr(0, cut)).kind, FrameKind::need_more) << cut;
  }
  EXPECT_EQ(first_frame(*nats, "PING\r\n").kind, FrameKind::control);
  EXPECT_EQ(first_frame(*nats, "+OK\r\n").kind, FrameKind::other);
  EXPECT_EQ(first_frame(*nats, "-ERR 'Slow Consumer'\r\n").kind, FrameKind::broken);
  EXPECT_EQ(first_frame(*nats, "MSG load.3 1 many\r\n").kind, FrameKind::broken);
  EXPECT_EQ(first_frame(*nats, std::string(10'000, 'x')).kind, FrameKind::broken);
}

// A whole frame with more behind it: found as `kind` with this body, and need_more at every shorter length.
void expect_whole(const Protocol& protocol, const std::string& bytes, std::string_view body) {
  const Frame frame = first_frame(protocol, bytes + bytes);
  EXPECT_EQ(frame.kind, FrameKind::delivery);
  EXPECT_EQ(frame.size, bytes.size());
  EXPECT_EQ(std::string_view(bytes).substr(frame.body_at, frame.body_size), body);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    EXPECT_EQ(first_frame(protocol, bytes.substr(0, cut)).kind, FrameKind::need_more) << cut;
  }
}

TEST(RedisProtocol, FindsTheTextOfAMessageAndTakesANumberForTheAck) {
  const std::unique_ptr<Protocol> redis = protocol_for("redis://127.0.0.1:1");
  expect_whole(*redis, "*3\r\n$7\r\nmessage\r\n$6\r\nload.3\r\n$5\r\nhello\r\n", "hello");
  EXPECT_EQ(first_frame(*redis, ":1\r\n:1\r\n").kind, FrameKind::ack);
  EXPECT_EQ(first_frame(*redis, ":1\r\n:1\r\n").size, 4U);
  EXPECT_EQ(first_frame(*redis, ":1\r").kind, FrameKind::need_more);
  EXPECT_TRUE(redis->acknowledges());
}

TEST(RedisProtocol, CannotFollowErrorsNorWhatIsNoMessage) {
  const std::unique_ptr<Protocol> redis = protocol_for("redis://127.0.0.1:1");
  for (const std::string& bytes :
       {std::string("-ERR unknown command\r\n"), std::string("*2\r\n$7\r\nmessage\r\n"),
        std::string("*3\r\n$7\r\nmessage\r\n$6\r\nload.3\r\n$99999999\r\n"),
        std::string("*3\r\n$7\r\nmessage\r\n:6\r\n"), ":" + std::string(1000, '1')}) {
    EXPECT_EQ(first_frame(*redis, bytes).kind, FrameKind::broken) << bytes;
  }
}

TEST(MqttProtocol, FindsTheTextBehindTheTopicForEveryLengthOfItsLength) {
  const std::unique_ptr<Protocol> mqtt = protocol_for("mqtt://127.0.0.1:1");
  using namespace std::string_literals;
  expect_whole(*mqtt, "\x30\x0D\x00\x06load.3hello"s, "hello");
  const std::string text(1024, 'x');
  expect_whole(*mqtt, "\x30\x88\x08\x00\x06load.3"s + text, text);
}

TEST(MqttProtocol, CannotFollowOtherQualitiesOfServiceNorLengthsThatLie) {
  const std::unique_ptr<Protocol> mqtt = protocol_for("mqtt://127.0.0.1:1");
  using namespace std::string_literals;
  EXPECT_EQ(first_frame(*mqtt, "\x90\x03\x00\x01\x00"s).kind, FrameKind::other);
  for (const std::string& bytes :
       {"\x32\x0F\x00\x06load.3\x00\x01hello"s, "\x30\x04\x00\x03xy"s, "\x30\x01\x00"s,
        "\x30\xFF\xFF\xFF\xFF\x01"s, "\x30\xFF\xFF\x7F"s, "\x20\x02\x00\x05"s}) {
    EXPECT_EQ(first_frame(*mqtt, bytes).kind, FrameKind::broken);
  }
}

TEST(WsProtocol, TakesEveryTextForAMessage) {
  const std::unique_ptr<Protocol> ws = protocol_for("wsrelay://127.0.0.1:1");
  expect_whole(*ws, server_text("hello"), "hello");
  EXPECT_EQ(ws->answer(server_frame(wire::WsOpcode::ping, "beat")),
            client_frame(wire::WsOpcode::pong, "beat", kSetUpMask));
}

TEST(SocketIoProtocol, TellsTheEventFromThePingOfTheEngineAndFromAGoodbye) {
  const std::unique_ptr<Protocol> io = protocol_for("socketio://127.0.0.1:1");
  const std::string event = R"(42["m","hello"])";
  expect_whole(*io, server_text(event), event);
  EXPECT_EQ(first_frame(*io, server_text("2")).kind, FrameKind::control);
  EXPECT_EQ(io->answer(server_text("2")), client_frame(wire::WsOpcode::text, "3", kSetUpMask));
  EXPECT_EQ(io->answer(server_frame(wire::WsOpcode::ping, "")),
            client_frame(wire::WsOpcode::pong, "", kSetUpMask));
  EXPECT_EQ(first_frame(*io, server_text(R"(42["n"])")).kind, FrameKind::other);
  EXPECT_EQ(first_frame(*io, server_text("41")).kind, FrameKind::broken);
  EXPECT_EQ(first_frame(*io, server_text(R"(44{"message":"no"})")).kind, FrameKind::broken);
}

TEST(PeerProtocol, RefusesADirectionThatItDoesNotHaveAndAnUnknownScheme) {
  for (const char* scheme : {"relay", "nats", "redis", "mqtt", "wsrelay", "socketio"}) {
    LoadChatOptions options;
    options.url = std::string(scheme) + "://127.0.0.1:1";
    EXPECT_TRUE(make_protocol(options)) << scheme;
    options.direction = Direction::both;
    EXPECT_FALSE(make_protocol(options)) << scheme;
  }
  LoadChatOptions options;
  options.url = "amqp://127.0.0.1:1";
  EXPECT_NE(make_protocol(options).error().message.find("socketio"), std::string::npos);
}

TEST(StampedFrame, KnowsWhereTheStampAndTheIdAreUnderTheMask) {
  const std::string text = R"({"id":"000000000000","text":")" + blank_text(kTextBytesMin) + R"("})";
  FrameRing ring(stamped_frame(text, R"("id":")"), 1);
  const Stamp stamp{.flow = 3, .sequence = 99, .intended_ns = 123'456'789};
  ring.push(stamp);
  std::string frame(ring.unsent().data(), ring.unsent().size());
  frame.resize(frame.size() + kFramePadding);
  wire::WsDecoder server(wire::WsDecoder::Peer::client);
  const wire::WsOutcome outcome = server.next({frame.data(), frame.size() - kFramePadding});
  ASSERT_EQ(outcome.kind, wire::WsOutcome::Kind::message);
  const std::string_view seen = outcome.text();
  EXPECT_EQ(read_stamp(seen.substr(seen.find(kStampMarker))), stamp);
  EXPECT_EQ(seen.substr(7, kStampIdBytes), seen.substr(seen.find(kStampMarker) + kStampIdAt, kStampIdBytes));
}

TEST(RelayProtocol, RefusesLengthsThatNoMessageHas) {
  const std::unique_ptr<Protocol> relay = protocol_for("relay://127.0.0.1:1");
  EXPECT_EQ(first_frame(*relay, std::string(8, '\0')).kind, FrameKind::broken);
  EXPECT_EQ(first_frame(*relay, std::string(8, '\x7F')).kind, FrameKind::broken);
  EXPECT_EQ(first_frame(*relay, std::string("\x01\x00\x00", 3)).kind, FrameKind::need_more);
}

std::string netstring(std::string_view body) {
  return std::to_string(body.size()).append(":").append(body).append(",");
}

TEST(TautProtocol, TellsMessagesFromAcksOnTheCompactCarrier) {
  const std::unique_ptr<Protocol> taut = protocol_for("tcp://127.0.0.1:1");
  const auto kind = [&](std::string_view body) { return first_frame(*taut, netstring(body)).kind; };
  EXPECT_EQ(kind(R"(35:c:{"text":"x"})"), FrameKind::delivery);
  EXPECT_EQ(kind(R"(34:c:{"ref":1,"level":"accepted"})"), FrameKind::ack);
  EXPECT_EQ(kind(R"(34:c:{"ref":1,"level":"durable"})"), FrameKind::other);
  EXPECT_EQ(kind(R"(36:c:{})"), FrameKind::other);
  EXPECT_EQ(kind(R"(15::{"ref":0})"), FrameKind::control);
  EXPECT_EQ(kind(R"(48::{"code":"inflight"})"), FrameKind::broken);
  EXPECT_EQ(kind(R"(49::{"code":4200})"), FrameKind::broken);
  EXPECT_EQ(kind("no colons"), FrameKind::broken);
  EXPECT_EQ(first_frame(*taut, "x").kind, FrameKind::broken);
  EXPECT_EQ(taut->answer({}), netstring("47::{}"));
}

TEST(TautProtocol, FindsTheBodyOfANetstringAndNothingInAnIncompleteOne) {
  const std::unique_ptr<Protocol> taut = protocol_for("tcp://127.0.0.1:1");
  const std::string body = "35:c:{\"text\":\"" + std::string(70'000, 'x') + "\"}";
  const std::string bytes = netstring(body);
  const Frame frame = first_frame(*taut, bytes + "rest");
  EXPECT_EQ(frame.size, bytes.size());
  EXPECT_EQ(bytes.substr(frame.body_at, frame.body_size), body);
  EXPECT_EQ(first_frame(*taut, bytes.substr(0, bytes.size() - 1)).kind, FrameKind::need_more);
  EXPECT_EQ(first_frame(*taut, "").kind, FrameKind::need_more);
}

/// The one body in these bytes.
std::string body_in(std::string bytes) {
  const wire::NetstringOutcome outcome = wire::next_netstring(bytes, 10'000);
  EXPECT_EQ(outcome.consumed, bytes.size());
  return {outcome.body.begin(), outcome.body.end()};
}

TEST(CompactCarrier, ASendToBeStampedIsOneThatTheServerReads) {
  const FramePrototype frame = compact_carrier().stamped_send("c1", 64);
  const std::string text = body_in(frame.bytes);
  const auto body = wire::parse_compact_body(text);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->type, 3U);
  EXPECT_EQ(body->conversation, "c1");
  const wire::CompactSend send = wire::parse_compact_send(body->payload);
  EXPECT_EQ(send.client_msg_id, frame.bytes.substr(frame.id_at, kStampIdBytes));
  EXPECT_EQ(send.ref, 1U);
  EXPECT_EQ(send.text, blank_text(64));
  EXPECT_EQ(frame.bytes.substr(frame.stamp_at, 64), blank_text(64));
}

TEST(CompactCarrier, ARequestSaysTypeAndConversationOutsideOfItsObject) {
  const std::string object = R"({"type":"close","ref":3,"conversation":"c1"})";
  EXPECT_EQ(body_in(compact_carrier().request(object)), "13:c1:" + object);
  const std::string list = R"({"type":"list","ref":3,"scope":"all"})";
  EXPECT_EQ(body_in(compact_carrier().request(list)), "14::" + list);
}

TEST(CompactCarrier, AnswersPingsAndGivesObjectsUntilTheServerSaysGoodbye) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  Connection connection{.socket = TcpSocket(ends[0]), .received = {}};
  TcpSocket server(ends[1]);
  ASSERT_TRUE(server.send_all(netstring(R"(15::{"ref":0})") + netstring(R"(33:c1:{"ref":1})") +
                              netstring(R"(48::{"code":"x"})") + netstring(R"(49::{"code":4200})")));
  EXPECT_EQ(*compact_carrier().receive_object(connection),
            R"({"type":"opened","conversation":"c1","ref":1})");
  EXPECT_EQ(*compact_carrier().receive_object(connection), R"({"type":"error","code":"x"})");
  const auto last = compact_carrier().receive_object(connection);
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().message, R"(the server closed with {"type":"bye","code":4200})");
  std::string pong;
  ASSERT_TRUE(server.receive_some(pong));
  EXPECT_EQ(pong, netstring("47::{}"));
}

TEST(ChatConnection, ReadsFieldsThatTheServerWrote) {
  const std::string_view object = R"({"type":"opened","ref":1,"conversation":"a.b","state":"queued"})";
  EXPECT_TRUE(is_type(object, "opened"));
  EXPECT_FALSE(is_type(object, "open"));
  EXPECT_EQ(string_field(object, "conversation"), "a.b");
  EXPECT_EQ(string_field(object, "visitor"), "");
}

}  // namespace
}  // namespace taut::load
