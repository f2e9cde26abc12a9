#include "load/websocket_frames.h"

#include <cstring>

namespace taut::load {

namespace {

constexpr std::string_view kUpgradeKey = "dGF1dCBsb2FkIGNsaWVudA==";  // 16 bytes, "taut load client"
constexpr uint32_t kServiceUnavailable = 503;
// The mask of stamped frames; every byte different, so that a phase error cannot go unseen.
constexpr std::array<uint8_t, 4> kStampedMask{0x37, 0xFA, 0x21, 0x9D};

}  // namespace

std::string client_frame(wire::WsOpcode opcode, std::string_view payload, uint32_t mask) {
  std::string frame(wire::ws_client_header_size(payload.size()) + payload.size(), '\0');
  wire::write_ws_client_frame(frame, opcode, payload, mask);
  return frame;
}

FramePrototype stamped_frame(std::string_view text, std::string_view id_field) {
  const auto header = static_cast<uint32_t>(wire::ws_client_header_size(text.size()));
  uint32_t mask = 0;
  std::memcpy(&mask, kStampedMask.data(), sizeof(mask));
  FramePrototype frame;
  frame.bytes = client_frame(wire::WsOpcode::text, text, mask);
  frame.stamp_at = header + static_cast<uint32_t>(text.find(kStampMarker));
  if (!id_field.empty()) frame.id_at = header + static_cast<uint32_t>(text.find(id_field) + id_field.size());
  frame.mask = kStampedMask;
  frame.masked_from = header;
  return frame;
}

std::string ws_upgrade(const Url& url, std::string_view subprotocol) {
  return wire::ws_upgrade_request(url.host_port(), url.path, kUpgradeKey, subprotocol);
}

wire::WsUpgradeAnswer ws_upgrade_answer(std::string_view received) {
  return wire::parse_ws_upgrade_answer(received, kUpgradeKey);
}

Result<Connection> ws_connect(const Url& url, std::string_view subprotocol, bool& refused_for_now) {
  refused_for_now = false;
  Result<TcpSocket> socket = TcpSocket::dial(url);
  if (!socket) return std::unexpected(socket.error());
  Connection connection{.socket = std::move(*socket), .received = {}};
  const Status sent = connection.socket.send_all(ws_upgrade(url, subprotocol));
  if (!sent) return std::unexpected(sent.error());
  while (true) {
    if (Status got = connection.socket.receive_some(connection.received); !got)
      return std::unexpected(got.error());
    const wire::WsUpgradeAnswer answer = ws_upgrade_answer(connection.received);
    if (answer.kind == wire::WsUpgradeAnswer::Kind::need_more) continue;
    refused_for_now = answer.status == kServiceUnavailable;
    if (answer.kind == wire::WsUpgradeAnswer::Kind::refused) return fail("upgrade refused: " + answer.reason);
    connection.received.erase(0, answer.consumed);
    return connection;
  }
}

Result<std::string> ws_receive_text(Connection& connection) {
  std::string& received = connection.received;
  while (true) {
    const size_t size = received.size();
    received.resize(size + kFramePadding);
    wire::WsDecoder decoder = wire::ws_client_decoder(wire::kChatFrameBytesMax);
    const wire::WsOutcome outcome = decoder.next({received.data(), size});
    received.resize(size);
    switch (outcome.kind) {
      case wire::WsOutcome::Kind::need_more:
        if (Status got = connection.socket.receive_some(received); !got) return std::unexpected(got.error());
        break;
      case wire::WsOutcome::Kind::error:
        return fail("the server broke the protocol: " + std::string(outcome.reason));
      case wire::WsOutcome::Kind::message: {
        std::string text(outcome.text());
        received.erase(0, outcome.consumed);
        return text;
      }
      case wire::WsOutcome::Kind::control: {
        if (outcome.opcode == wire::WsOpcode::close) {
          return fail("the server closed with " + std::to_string(static_cast<int>(outcome.close_code)) + " " +
                      std::string(outcome.text()));
        }
        const bool ping = outcome.opcode == wire::WsOpcode::ping;
        const std::string pong = client_frame(wire::WsOpcode::pong, outcome.text(), kSetUpMask);
        received.erase(0, outcome.consumed);
        if (!ping) break;
        if (Status sent = connection.socket.send_all(pong); !sent) return std::unexpected(sent.error());
        break;
      }
    }
  }
}

Frame next_ws_frame(std::span<char> bytes) noexcept {
  // A fresh decoder each time: without fragments there is no state to keep.
  wire::WsDecoder decoder = wire::ws_client_decoder(wire::kChatFrameBytesMax);
  const wire::WsOutcome outcome = decoder.next(bytes);
  Frame frame{.kind = FrameKind::broken,
              .size = static_cast<uint32_t>(outcome.consumed),
              .body_at = static_cast<uint32_t>(outcome.payload.data() - bytes.data()),
              .body_size = static_cast<uint32_t>(outcome.payload.size())};
  switch (outcome.kind) {
    case wire::WsOutcome::Kind::need_more:
      return {.kind = decoder.in_message() ? FrameKind::broken : FrameKind::need_more};
    case wire::WsOutcome::Kind::message:
      frame.kind = FrameKind::delivery;
      break;
    case wire::WsOutcome::Kind::control:
      if (outcome.opcode == wire::WsOpcode::ping) frame.kind = FrameKind::control;
      if (outcome.opcode == wire::WsOpcode::pong) frame.kind = FrameKind::other;
      break;
    case wire::WsOutcome::Kind::error:
      break;
  }
  return frame;
}

std::string ws_pong(std::span<const char> ping) {
  // A control frame from a server: two bytes of header, then at most 125 of payload.
  constexpr size_t kHeader = wire::ws_header_size(0);
  return client_frame(wire::WsOpcode::pong, {ping.data() + kHeader, ping.size() - kHeader}, kSetUpMask);
}

}  // namespace taut::load
