// WebSocket for a client that measures (of load/chat_carrier.h).
#include "load/chat_carrier.h"
#include "load/stamp.h"
#include "load/websocket_frames.h"

namespace taut::load {

namespace {

// The server writes `type` first in every object, so the first bytes decide.
FrameKind kind_of_object(std::string_view object) {
  if (object.starts_with(R"({"type":"message")")) return FrameKind::delivery;
  // One accepted ack for each send; a durable one may follow and is not counted.
  if (object.starts_with(R"({"type":"ack")")) {
    return object.ends_with(R"("level":"accepted"})") ? FrameKind::ack : FrameKind::other;
  }
  if (object.starts_with(R"({"type":"error")")) return FrameKind::broken;
  return FrameKind::other;
}

class WebSocketCarrier final : public ChatCarrier {
 public:
  Result<Connection> connect(const Url& url, bool& refused_for_now) const override {
    return ws_connect(url, kChatSubprotocol, refused_for_now);
  }

  std::string request(std::string_view object) const override {
    return client_frame(wire::WsOpcode::text, object, kSetUpMask);
  }

  Result<std::string> receive_object(Connection& connection) const override {
    return ws_receive_text(connection);
  }

  FramePrototype stamped_send(const std::string& conversation, uint32_t text_bytes) const override {
    return stamped_frame(R"({"type":"send","ref":1,"conversation":")" + conversation +
                             R"(","client_msg_id":")" + std::string(kStampIdBytes, '0') + R"(","text":")" +
                             blank_text(text_bytes) + R"("})",
                         R"("client_msg_id":")");
  }

  Frame next_frame(std::span<char> bytes) const noexcept override {
    Frame frame = next_ws_frame(bytes);
    if (frame.kind == FrameKind::delivery)
      frame.kind = kind_of_object({bytes.data() + frame.body_at, frame.body_size});
    return frame;
  }

  std::string answer(std::span<const char> ping) const override { return ws_pong(ping); }

  std::string goodbye() const override {
    constexpr std::string_view kDone("\x03\xE8", 2);  // 1000
    return client_frame(wire::WsOpcode::close, kDone, kSetUpMask);
  }
};

}  // namespace

const ChatCarrier& websocket_carrier() {
  static const WebSocketCarrier carrier;
  return carrier;
}

}  // namespace taut::load
