// The client's half of WebSocket, for the load generator and for tests: masked frames and the opening
// handshake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wire/websocket.h"

namespace taut::wire {

/// Decodes what a server sends.
[[nodiscard]] inline WsDecoder ws_client_decoder(uint32_t message_bytes_max) {
  return WsDecoder(WsDecoder::Peer::server, message_bytes_max);
}

/// Header with a mask key: 6, 8 or 14 bytes.
[[nodiscard]] constexpr size_t ws_client_header_size(size_t payload_bytes) {
  return ws_header_size(payload_bytes) + 4;
}

/// Writes a final frame's masked header; the caller then masks the payload behind it (unmask(), its own
/// inverse). `mask` is the key as the four bytes lie in memory. Returns ws_client_header_size(payload_bytes).
size_t write_ws_client_header(std::span<char> out, WsOpcode opcode, size_t payload_bytes, uint32_t mask,
                              bool final = true) noexcept;

/// A whole masked frame: header, and the payload copied and masked. Returns its size.
/// REQUIRES: out holds ws_client_header_size(n) + n bytes and does not overlap the payload.
size_t write_ws_client_frame(std::span<char> out, WsOpcode opcode, std::string_view payload, uint32_t mask,
                             bool final = true) noexcept;

/// The request that opens a connection. `key` is 16 random bytes in base64; `subprotocol` may be empty;
/// `extra_headers` are whole lines, each ending in CR LF.
[[nodiscard]] std::string ws_upgrade_request(std::string_view host, std::string_view target,
                                             std::string_view key, std::string_view subprotocol,
                                             std::string_view extra_headers = {});

struct WsUpgradeAnswer {
  enum class Kind : uint8_t { need_more, accepted, refused };
  Kind kind = Kind::need_more;
  uint32_t status = 0;      ///< HTTP status; 0 when the answer is no HTTP
  size_t consumed = 0;      ///< accepted: where the first frame begins
  std::string subprotocol;  ///< accepted: what the server chose, or empty
  std::string reason;       ///< refused: in words
};

/// Reads the server's answer from all bytes received so far.
[[nodiscard]] WsUpgradeAnswer parse_ws_upgrade_answer(std::string_view in, std::string_view key);

}  // namespace taut::wire
