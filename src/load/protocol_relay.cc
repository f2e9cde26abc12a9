#include "load/protocol_relay.h"

#include <cstring>

#include "load/stamp.h"

namespace taut::load {

namespace {

// Largest body that the client takes from a relay.
constexpr uint32_t kBodyBytesMax = kTextBytesMax;

class RelayProtocol final : public Protocol {
 public:
  RelayProtocol(Url url, const LoadChatOptions& options)
      : url_(std::move(url)), pairs_(options.pairs), size_(options.size) {}

  Result<Session> open() override {
    Session session;
    session.text_bytes = size_;
    for (uint32_t pair = 0; pair < pairs_; ++pair) {
      for (const char* side : {"recv", "send"}) {
        Result<Connection> connection = join(pair, side);
        if (!connection) return std::unexpected(connection.error());
        session.connections.push_back(std::move(*connection));
      }
      session.flows.push_back({.from = 2 * pair + 1, .to = 2 * pair, .frame = prototype()});
    }
    return session;
  }

  void close(Session& session) override { session.connections.clear(); }

  Frame next_frame(std::span<char> bytes) const noexcept override {
    if (bytes.size() < kRelayHeaderBytes) return {};
    uint32_t body = 0;
    std::memcpy(&body, bytes.data(), sizeof(body));
    if (body == 0 || body > kBodyBytesMax) return {.kind = FrameKind::broken};
    if (bytes.size() < kRelayHeaderBytes + body) return {};
    const FrameKind kind = bytes[kRelayHeaderBytes] == kRelayAckMark ? FrameKind::ack : FrameKind::delivery;
    return {.kind = kind, .size = kRelayHeaderBytes + body, .body_at = kRelayHeaderBytes, .body_size = body};
  }

  std::string answer(std::span<const char>) const override { return {}; }
  bool acknowledges() const override { return acknowledges_; }

 private:
  Result<Connection> join(uint32_t pair, const char* side) {
    Result<TcpSocket> socket = TcpSocket::dial(url_.host, url_.port);
    if (!socket) return std::unexpected(socket.error());
    Connection connection{.socket = std::move(*socket), .received = {}};
    const std::string line = "pair " + std::to_string(pair) + " " + side + "\n";
    if (Status s = connection.socket.send_all(line); !s) return std::unexpected(s.error());
    while (!connection.received.ends_with('\n')) {
      if (Status s = connection.socket.receive_some(connection.received); !s)
        return std::unexpected(s.error());
    }
    acknowledges_ = connection.received == kRelayAcks;
    if (!acknowledges_ && connection.received != kRelayOk)
      return fail("the relay says: " + connection.received);
    connection.received.clear();
    return connection;
  }

  FramePrototype prototype() const {
    FramePrototype frame;
    frame.bytes.resize(kRelayHeaderBytes);
    std::memcpy(frame.bytes.data(), &size_, sizeof(size_));
    frame.bytes += blank_text(size_);
    frame.stamp_at = kRelayHeaderBytes;
    return frame;
  }

  const Url url_;
  const uint32_t pairs_;
  const uint32_t size_;
  bool acknowledges_ = false;
};

}  // namespace

Result<std::unique_ptr<Protocol>> make_relay_protocol(const Url& url, const LoadChatOptions& options) {
  if (options.direction == Direction::both) return fail("a relay carries one direction only");
  return std::make_unique<RelayProtocol>(url, options);
}

}  // namespace taut::load
