// WebSocket as the load programs speak it: a blocking set-up, masked frames going out, whole frames coming
// in.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "load/protocol.h"
#include "wire/websocket_client.h"

namespace taut::load {

/// Any non-zero key does: what a mask protects from is not on this path, and the server's work is the same.
inline constexpr uint32_t kSetUpMask = 0x5AA5C33C;

/// taut's own, over JSON.
inline constexpr std::string_view kChatSubprotocol = "taut.v1.json";

/// A text or control frame as a client sends it, masked with `mask` (the key's bytes as they lie in memory).
[[nodiscard]] std::string client_frame(wire::WsOpcode opcode, std::string_view payload, uint32_t mask);

/// A text frame whose text has a blank stamp in it, and an id behind `id_field` when that is not empty.
[[nodiscard]] FramePrototype stamped_frame(std::string_view text, std::string_view id_field = {});

/// The request that opens a chat connection, and what all bytes received so far say to it.
[[nodiscard]] std::string ws_upgrade(const Url& url, std::string_view subprotocol = kChatSubprotocol);
[[nodiscard]] wire::WsUpgradeAnswer ws_upgrade_answer(std::string_view received);

/// Connects to url.path, blocking. `refused_for_now` is set to whether the server said 503.
[[nodiscard]] Result<Connection> ws_connect(const Url& url, std::string_view subprotocol,
                                            bool& refused_for_now);
/// The next text, blocking; pings are answered on the way. Error: a close, or silence.
[[nodiscard]] Result<std::string> ws_receive_text(Connection& connection);

/// Protocol::next_frame() for servers that never fragment: every text is a `delivery`, a ping is `control`, a
/// close is `broken`.
[[nodiscard]] Frame next_ws_frame(std::span<char> bytes) noexcept;
/// What to send back for a whole ping frame.
[[nodiscard]] std::string ws_pong(std::span<const char> ping);

}  // namespace taut::load
