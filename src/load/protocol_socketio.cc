#include "load/protocol_socketio.h"

#include "load/protocol_peer.h"
#include "load/websocket_frames.h"

namespace taut::load {

namespace {

constexpr std::string_view kPing = "2";
constexpr std::string_view kPong = "3";
constexpr std::string_view kSocketIoConnect = "40";
constexpr std::string_view kDisconnected = "41";
constexpr std::string_view kRefused = "44";
constexpr std::string_view kEvent = "42[\"m\",";

class SocketIoProtocol final : public PeerProtocol {
 public:
  using PeerProtocol::PeerProtocol;

  Frame next_frame(std::span<char> bytes) const noexcept override {
    Frame frame = next_ws_frame(bytes);
    if (frame.kind != FrameKind::delivery) return frame;
    const std::string_view text(bytes.data() + frame.body_at, frame.body_size);
    if (text.starts_with(kEvent)) return frame;
    frame.kind = text == kPing                                                   ? FrameKind::control
                 : text.starts_with(kDisconnected) || text.starts_with(kRefused) ? FrameKind::broken
                                                                                 : FrameKind::other;
    return frame;
  }

  // engine.io has a ping of its own, a text.
  std::string answer(std::span<const char> ping) const override {
    const bool text = ping.size() == wire::ws_header_size(0) + kPing.size() && ping.back() == kPing[0];
    return text ? client_frame(wire::WsOpcode::text, kPong, kSetUpMask) : ws_pong(ping);
  }

 private:
  Result<Connection> join(uint32_t pair, Side side) override {
    Url target = url();
    target.path = "/socket.io/?EIO=4&transport=websocket&pair=" + std::to_string(pair) +
                  (side == Side::receives ? "&side=recv" : "&side=send");
    bool refused_for_now = false;
    Result<Connection> connection = ws_connect(target, {}, refused_for_now);
    if (!connection) return connection;
    const std::string connect = client_frame(wire::WsOpcode::text, kSocketIoConnect, kSetUpMask);
    if (Status s = connection->socket.send_all(connect); !s) return std::unexpected(s.error());
    while (true) {
      const Result<std::string> text = ws_receive_text(*connection);
      if (!text) return std::unexpected(text.error());
      if (text->starts_with(kSocketIoConnect)) return connection;
      if (text->starts_with(kRefused)) return fail("socket.io says: " + *text);
    }
  }

  FramePrototype prototype(uint32_t) const override {
    return stamped_frame(std::string(kEvent) + "\"" + blank_text(text_bytes()) + "\"]");
  }
};

}  // namespace

std::unique_ptr<Protocol> make_socketio_protocol(const Url& url, const LoadChatOptions& options) {
  return std::make_unique<SocketIoProtocol>(url, options);
}

}  // namespace taut::load
