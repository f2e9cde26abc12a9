#include "load/protocol_ws.h"

#include "load/protocol_peer.h"
#include "load/websocket_frames.h"

namespace taut::load {

namespace {

class WsProtocol final : public PeerProtocol {
 public:
  using PeerProtocol::PeerProtocol;

  Frame next_frame(std::span<char> bytes) const noexcept override { return next_ws_frame(bytes); }
  std::string answer(std::span<const char> ping) const override { return ws_pong(ping); }

 private:
  Result<Connection> join(uint32_t pair, Side side) override {
    Url target = url();
    target.path = "/" + std::to_string(pair) + (side == Side::receives ? "/recv" : "/send");
    bool refused_for_now = false;
    return ws_connect(target, {}, refused_for_now);
  }

  FramePrototype prototype(uint32_t) const override { return stamped_frame(blank_text(text_bytes())); }
};

}  // namespace

std::unique_ptr<Protocol> make_ws_protocol(const Url& url, const LoadChatOptions& options) {
  return std::make_unique<WsProtocol>(url, options);
}

}  // namespace taut::load
