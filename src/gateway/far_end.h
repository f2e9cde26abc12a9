// For tests: the far end of a chat connection, which says in short what it got.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/carrier.h"
#include "net/socket.h"
#include "wire/compact.h"
#include "wire/deflate.h"
#include "wire/padding.h"
#include "wire/websocket.h"

namespace taut::gateway {

using Lines = std::vector<std::string>;

/// Both ends of a stream.
inline std::pair<net::Fd, net::Fd> socket_pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  return {net::Fd(ends[0]), net::Fd(ends[1])};
}

/// The body of a netstring as the JSON object that a WebSocket would carry.
inline std::string object_of_body(std::string_view text) {
  const auto body = wire::parse_compact_body(text);
  if (!body) return "not type:conversation:payload";
  std::string object =
      "{\"type\":\"" + std::string(wire::name_of(static_cast<wire::ServerType>(body->type))) + "\",";
  if (!body->conversation.empty()) object += "\"conversation\":\"" + std::string(body->conversation) + "\",";
  return object.append(body->payload.substr(1));
}

/// The far end of a connection: what was written to it, in short ("assigned c2").
class FarEnd {
 public:
  explicit FarEnd(net::Fd fd, Carrier carrier = Carrier::websocket) : fd_(std::move(fd)), carrier_(carrier) {}

  /// The frames since the last call: type, conversation, and the text of messages; "close" and its code.
  Lines read() {
    std::array<char, 65'536> some{};
    for (ssize_t n = 0; (n = ::read(fd_.get(), some.data(), some.size())) > 0;)
      unread_.append(some.data(), static_cast<size_t>(n));
    return carrier_ == Carrier::websocket ? frames() : netstrings();
  }
  [[nodiscard]] bool ended() {
    char byte = 0;
    return ::recv(fd_.get(), &byte, 1, MSG_PEEK) == 0;
  }

  /// "message c1 and what it says"
  static std::string short_form(std::string_view json) {
    return value(json, "type").substr(1) + value(json, "conversation") + value(json, "code") +
           value(json, "text").substr(0, 12);
  }

 private:
  Lines netstrings() {
    Lines lines;
    for (;;) {
      const wire::NetstringOutcome outcome = wire::next_netstring(unread_, 1U << 20);
      if (outcome.kind == wire::NetstringOutcome::Kind::error) lines.emplace_back(outcome.reason);
      if (outcome.kind != wire::NetstringOutcome::Kind::body) return lines;
      lines.push_back(short_form(object_of_body({outcome.body.data(), outcome.body.size()})));
      unread_.erase(0, outcome.consumed);
    }
  }
  Lines frames() {
    Lines lines;
    wire::WsDecoder decoder(wire::WsDecoder::Peer::server);
    decoder.allow_deflate();
    for (;;) {
      std::string buffer = unread_ + std::string(wire::kReadablePadding, '\0');
      const wire::WsOutcome outcome = decoder.next({buffer.data(), unread_.size()});
      if (outcome.kind == wire::WsOutcome::Kind::message) {
        lines.push_back(outcome.deflated ? "deflated " + short_form(inflated(outcome.text()))
                                         : short_form(outcome.text()));
      } else if (outcome.kind == wire::WsOutcome::Kind::control) {
        lines.push_back(outcome.opcode == wire::WsOpcode::close
                            ? "close " + std::to_string(static_cast<int>(outcome.close_code))
                            : "control");
      } else {
        return lines;
      }
      unread_.erase(0, outcome.consumed);
    }
  }
  static std::string inflated(std::string_view payload) {
    wire::Inflater inflater(1U << 20);
    const wire::Inflated result = inflater.inflate({payload.data(), payload.size()});
    return result.reason.empty() ? std::string(result.message.data(), result.message.size())
                                 : std::string(result.reason);
  }
  static std::string value(std::string_view json, std::string_view key) {
    const std::string begin = "\"" + std::string(key) + "\":\"";
    const size_t at = json.find(begin);
    if (at == std::string_view::npos) return "";
    const size_t from = at + begin.size();
    return " " + std::string(json.substr(from, json.find('"', from) - from));
  }

  net::Fd fd_;
  Carrier carrier_;
  std::string unread_;
};

}  // namespace taut::gateway
