#include "load/protocol.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "load/chat_connection.h"
#include "wire/websocket_client.h"

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

TEST(RelayProtocol, RefusesLengthsThatNoMessageHas) {
  const std::unique_ptr<Protocol> relay = protocol_for("relay://127.0.0.1:1");
  EXPECT_EQ(first_frame(*relay, std::string(8, '\0')).kind, FrameKind::broken);
  EXPECT_EQ(first_frame(*relay, std::string(8, '\x7F')).kind, FrameKind::broken);
  EXPECT_EQ(first_frame(*relay, std::string("\x01\x00\x00", 3)).kind, FrameKind::need_more);
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
