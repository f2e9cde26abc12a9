#include "load/guest.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "load/chat_connection.h"
#include "load/websocket_frames.h"

namespace taut::load {

namespace {

constexpr size_t kGuestReadBytes = size_t{16} * 1024;

void count(std::string_view object, Guest::Heard& heard) {
  if (object.starts_with(R"({"type":"ack")") || object.starts_with(R"({"type":"ok")")) ++heard.answers;
  if (object.starts_with(R"({"type":"error")")) ++heard.errors;
  if (object.starts_with(R"({"type":"message")")) ++heard.messages;
}

}  // namespace

void Guest::adopt(Connection connection) {
  connection_ = std::move(connection);
  connection_.socket.set_blocking(false);
  state_ = State::in;
}

void Guest::step() {
  switch (state_) {
    case State::away:
      return dial();
    case State::connecting:
      return upgrade();
    case State::upgrading:
      return await_upgrade();
    case State::entering:
      hear();
      return;
    case State::in:
      return;
  }
}

void Guest::dial() {
  Result<TcpSocket> socket = TcpSocket::begin(url_.host, url_.port, receive_buffer_);
  if (!socket) return;
  connection_.socket = std::move(*socket);
  state_ = State::connecting;
}

void Guest::upgrade() {
  const std::string request = ws_upgrade(url_);
  const ssize_t n = ::send(connection_.socket.fd(), request.data(), request.size(), MSG_NOSIGNAL);
  if (n == static_cast<ssize_t>(request.size())) {
    state_ = State::upgrading;
  } else if (n >= 0 || errno != EAGAIN) {
    leave();
  }
}

void Guest::await_upgrade() {
  if (!receive()) return;
  const wire::WsUpgradeAnswer answer = ws_upgrade_answer(connection_.received);
  if (answer.kind == wire::WsUpgradeAnswer::Kind::refused) return leave();
  if (answer.kind == wire::WsUpgradeAnswer::Kind::need_more) return;
  connection_.received.erase(0, answer.consumed);
  unsent_ = client_frame(wire::WsOpcode::text, hello_, kSetUpMask);
  state_ = State::entering;
  flush();
}

bool Guest::say(std::string_view frames) {
  flush();
  if (state_ != State::in || !unsent_.empty()) return false;
  unsent_ = frames;
  flush();
  return true;
}

void Guest::flush() {
  if (unsent_.empty()) return;
  const ssize_t n = ::send(connection_.socket.fd(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
  if (n >= 0) {
    unsent_.erase(0, static_cast<size_t>(n));
  } else if (errno != EAGAIN) {
    leave();
  }
}

bool Guest::receive() {
  std::string& received = connection_.received;
  const size_t kept = received.size();
  received.resize(kept + kGuestReadBytes);
  const ssize_t n = ::recv(connection_.socket.fd(), received.data() + kept, kGuestReadBytes, 0);
  received.resize(kept + static_cast<size_t>(std::max<ssize_t>(n, 0)));
  if (n == 0 || (n < 0 && errno != EAGAIN)) leave();
  return n > 0;
}

Guest::Heard Guest::hear() {
  Heard heard;
  if (state_ < State::entering || !receive()) return heard;
  std::string& received = connection_.received;
  const size_t size = received.size();
  received.resize(size + kFramePadding);
  size_t used = 0;
  while (true) {
    const Frame frame = next_ws_frame({received.data() + used, size - used});
    if (frame.kind == FrameKind::need_more) break;
    if (frame.kind == FrameKind::broken) {  // a goodbye, mostly
      leave();
      return heard;
    }
    if (frame.kind == FrameKind::control) unsent_ += ws_pong({received.data() + used, frame.size});
    if (frame.kind == FrameKind::delivery) {
      const std::string_view object(received.data() + used + frame.body_at, frame.body_size);
      if (state_ == State::entering && is_type(object, "welcome")) state_ = State::in;
      count(object, heard);
    }
    used += frame.size;
  }
  received.resize(size);
  received.erase(0, used);
  flush();
  return heard;
}

void Guest::leave() {
  connection_ = Connection();
  unsent_.clear();
  state_ = State::away;
}

}  // namespace taut::load
