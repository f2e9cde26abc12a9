#include "load/guest.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include "load/websocket_frames.h"
#include "wire/http.h"

namespace taut::load {
namespace {

constexpr std::string_view kHello = R"({"type":"hello"})";

std::string text(std::string_view object) {
  std::string frame(wire::ws_header_size(object.size()), '\0');
  wire::write_ws_header(frame, wire::WsOpcode::text, object.size());
  return frame.append(object);
}

// A server of one connection at a time, on the same thread: it does what the test says, when it says so.
class GuestTest : public testing::Test {
 protected:
  GuestTest() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_.fd(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.fd(), 4), 0);
    listener_.set_deadline(5);  // of accept
    ::getsockname(listener_.fd(), reinterpret_cast<sockaddr*>(&address), &size);
    url_ = {.scheme = "ws", .host = "127.0.0.1", .port = ntohs(address.sin_port), .path = "/v1/chat"};
  }

  /// Until the guest is in this state; what the server has said is there already, or nearly.
  static void step_to(Guest& guest, Guest::State state) {
    for (int i = 0; i < 5'000 && guest.state() != state; ++i) {
      guest.step();
      ::poll(nullptr, 0, 1);
    }
    ASSERT_EQ(guest.state(), state);
  }

  void accept() {
    server_ = TcpSocket(::accept(listener_.fd(), nullptr, nullptr));
    server_.set_deadline(5);
    std::string request;
    while (!request.ends_with("\r\n\r\n")) ASSERT_TRUE(server_.receive_some(request));
    const std::string_view name = "Sec-WebSocket-Key: ";
    const std::string_view rest = std::string_view(request).substr(request.find(name) + name.size());
    key_ = rest.substr(0, rest.find("\r\n"));
  }

  void say(std::string_view bytes) { ASSERT_TRUE(server_.send_all(bytes)); }

  void bring_in(Guest& guest) {
    step_to(guest, Guest::State::upgrading);
    accept();
    say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: " +
        wire::ws_accept_key(key_) + "\r\n\r\n");
    step_to(guest, Guest::State::entering);
    expect(client_frame(wire::WsOpcode::text, kHello, kSetUpMask));
    say(text(R"({"type":"welcome"})"));
    step_to(guest, Guest::State::in);
  }

  /// These bytes, and no others, come from the guest.
  void expect(const std::string& bytes) {
    std::string seen;
    while (seen.size() < bytes.size()) ASSERT_TRUE(server_.receive_some(seen));
    EXPECT_EQ(seen, bytes);
  }

  static Guest::Heard hear(Guest& guest) {
    pollfd readable{.fd = guest.fd(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&readable, 1, 5'000), 1);
    return guest.hear();
  }

  TcpSocket listener_;
  TcpSocket server_;
  Url url_;
  std::string key_;
};

TEST_F(GuestTest, ComesInSaysWhatItIsToldAndCountsWhatItHears) {
  Guest guest(url_, std::string(kHello));
  EXPECT_FALSE(guest.say("too early"));
  bring_in(guest);
  EXPECT_TRUE(guest.say("frames"));
  expect("frames");
  const std::string objects = text(R"({"type":"ack"})") + text(R"({"type":"ok"})") +
                              text(R"({"type":"error"})") + text(R"({"type":"message"})") +
                              text(R"({"type":"event"})");
  say(objects.substr(0, objects.size() - 1));
  Guest::Heard heard = hear(guest);
  EXPECT_EQ(heard.answers, 2U);
  EXPECT_EQ(heard.errors, 1U);
  EXPECT_EQ(heard.messages, 1U);
  say(objects.substr(objects.size() - 1) + text(R"({"type":"message"})"));
  heard = hear(guest);
  EXPECT_EQ(heard.messages, 1U);
}

TEST_F(GuestTest, AnswersPings) {
  Guest guest(url_, std::string(kHello));
  bring_in(guest);
  say(std::string("\x89\x02hi", 4));
  hear(guest);
  expect(client_frame(wire::WsOpcode::pong, "hi", kSetUpMask));
}

TEST_F(GuestTest, LeavesAndComesAgain) {
  Guest guest(url_, std::string(kHello));
  bring_in(guest);
  guest.leave();
  std::string rest;
  EXPECT_FALSE(server_.receive_some(rest));
  bring_in(guest);
}

TEST_F(GuestTest, IsAwayWhenTheServerRefusesOrGoesOrThereIsNone) {
  Guest guest(url_, std::string(kHello));
  step_to(guest, Guest::State::upgrading);
  accept();
  say("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
  step_to(guest, Guest::State::away);
  bring_in(guest);
  say(std::string("\x88\x02\x03\xE8", 4));  // a close frame
  hear(guest);
  EXPECT_EQ(guest.state(), Guest::State::away);
  bring_in(guest);
  server_ = TcpSocket();
  hear(guest);
  EXPECT_EQ(guest.state(), Guest::State::away);
  listener_ = TcpSocket();
  guest.step();
  if (guest.state() != Guest::State::away) step_to(guest, Guest::State::away);
}

}  // namespace
}  // namespace taut::load
