#include "load/protocol_relay.h"

#include <cstring>

#include "load/protocol_peer.h"

namespace taut::load {

namespace {

// Largest body that the client takes from a relay.
constexpr uint32_t kBodyBytesMax = kTextBytesMax;

class RelayProtocol final : public PeerProtocol {
 public:
  using PeerProtocol::PeerProtocol;

  Frame next_frame(std::span<char> bytes) const noexcept override {
    if (bytes.size() < kRelayHeaderBytes) return {};
    uint32_t body = 0;
    std::memcpy(&body, bytes.data(), sizeof(body));
    if (body == 0 || body > kBodyBytesMax) return {.kind = FrameKind::broken};
    if (bytes.size() < kRelayHeaderBytes + body) return {};
    const FrameKind kind = bytes[kRelayHeaderBytes] == kRelayAckMark ? FrameKind::ack : FrameKind::delivery;
    return {.kind = kind, .size = kRelayHeaderBytes + body, .body_at = kRelayHeaderBytes, .body_size = body};
  }

  bool acknowledges() const override { return acknowledges_; }

 private:
  Result<Connection> join(uint32_t pair, Side side) override {
    Result<Connection> connection =
        ask("pair " + std::to_string(pair) + (side == Side::receives ? " recv\n" : " send\n"), "\n");
    if (!connection) return connection;
    acknowledges_ = connection->received == kRelayAcks;
    if (!acknowledges_ && connection->received != kRelayOk)
      return fail("the relay says: " + connection->received);
    connection->received.clear();
    return connection;
  }

  FramePrototype prototype(uint32_t) const override {
    const uint32_t size = text_bytes();
    std::string head(kRelayHeaderBytes, '\0');
    std::memcpy(head.data(), &size, sizeof(size));
    return around_text(std::move(head), {});
  }

  bool acknowledges_ = false;
};

}  // namespace

std::unique_ptr<Protocol> make_relay_protocol(const Url& url, const LoadChatOptions& options) {
  return std::make_unique<RelayProtocol>(url, options);
}

}  // namespace taut::load
