#include "load/protocol_nats.h"

#include <charconv>

#include "load/stamp.h"

namespace taut::load {

namespace {

constexpr std::string_view kConnect =
    "CONNECT {\"verbose\":false,\"pedantic\":false,\"name\":\"taut-load\"}\r\n";
constexpr std::string_view kLineEnd = "\r\n";
// Longest control line that the client takes; INFO is the longest at about 500 bytes.
constexpr size_t kLineBytesMax = 4096;

class NatsProtocol final : public Protocol {
 public:
  NatsProtocol(Url url, const LoadChatOptions& options)
      : url_(std::move(url)), pairs_(options.pairs), size_(options.size) {}

  Result<Session> open() override {
    Session session;
    session.text_bytes = size_;
    for (uint32_t pair = 0; pair < pairs_; ++pair) {
      for (const bool subscribes : {true, false}) {
        const std::string hello = subscribes ? "SUB " + subject(pair) + " 1\r\n" : std::string();
        Result<Connection> connection = join(hello);
        if (!connection) return std::unexpected(connection.error());
        session.connections.push_back(std::move(*connection));
      }
      session.flows.push_back({.from = 2 * pair + 1, .to = 2 * pair, .frame = prototype(pair)});
    }
    return session;
  }

  void close(Session& session) override { session.connections.clear(); }

  Frame next_frame(std::span<char> bytes) const noexcept override {
    const std::string_view in(bytes.data(), bytes.size());
    const size_t line = in.substr(0, kLineBytesMax).find(kLineEnd);
    if (line == std::string_view::npos) {
      return {.kind = in.size() < kLineBytesMax ? FrameKind::need_more : FrameKind::broken};
    }
    const auto line_size = static_cast<uint32_t>(line + kLineEnd.size());
    if (!in.starts_with("MSG ")) {
      const FrameKind kind = in.starts_with("PING")   ? FrameKind::control
                             : in.starts_with("-ERR") ? FrameKind::broken
                                                      : FrameKind::other;
      return {.kind = kind, .size = line_size, .body_at = 0, .body_size = line_size};
    }
    // MSG subject sid [reply] size: the size is the last word.
    const size_t size_at = in.substr(0, line).rfind(' ') + 1;
    uint32_t body = 0;
    const auto [stopped, error] = std::from_chars(in.data() + size_at, in.data() + line, body);
    if (error != std::errc{} || stopped != in.data() + line || body > kTextBytesMax)
      return {.kind = FrameKind::broken};
    const uint32_t size = line_size + body + static_cast<uint32_t>(kLineEnd.size());
    if (in.size() < size) return {};
    return {.kind = FrameKind::delivery, .size = size, .body_at = line_size, .body_size = body};
  }

  std::string answer(std::span<const char>) const override { return "PONG\r\n"; }
  bool acknowledges() const override { return false; }

 private:
  static std::string subject(uint32_t pair) { return "load." + std::to_string(pair); }

  // The PONG proves that the server has seen the subscription.
  Result<Connection> join(const std::string& hello) {
    Result<TcpSocket> socket = TcpSocket::dial(url_.host, url_.port);
    if (!socket) return std::unexpected(socket.error());
    Connection connection{.socket = std::move(*socket), .received = {}};
    const std::string greeting = std::string(kConnect) + hello + "PING\r\n";
    if (Status s = connection.socket.send_all(greeting); !s) return std::unexpected(s.error());
    while (!connection.received.ends_with("PONG\r\n")) {
      if (connection.received.find("-ERR") != std::string::npos) return fail("nats: " + connection.received);
      if (Status s = connection.socket.receive_some(connection.received); !s)
        return std::unexpected(s.error());
    }
    connection.received.clear();
    return connection;
  }

  FramePrototype prototype(uint32_t pair) const {
    FramePrototype frame;
    frame.bytes = "PUB " + subject(pair) + " " + std::to_string(size_) + "\r\n";
    frame.stamp_at = static_cast<uint32_t>(frame.bytes.size());
    frame.bytes += blank_text(size_);
    frame.bytes += kLineEnd;
    return frame;
  }

  const Url url_;
  const uint32_t pairs_;
  const uint32_t size_;
};

}  // namespace

Result<std::unique_ptr<Protocol>> make_nats_protocol(const Url& url, const LoadChatOptions& options) {
  if (options.direction == Direction::both) return fail("nats is measured in one direction only");
  return std::make_unique<NatsProtocol>(url, options);
}

}  // namespace taut::load
