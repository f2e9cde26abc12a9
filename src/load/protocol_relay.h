// The bare relay's protocol: frames of a length and a body, and one line that says who a connection is.
//
//   set-up, client to relay   "pair <number> recv\n" or "pair <number> send\n", the receiver first
//   set-up, relay to client   "ok\n", or "acks\n" when each message will be acknowledged
//   frame, both ways          4 bytes little-endian: size of the body; then the body
//   ack, relay to sender      a frame of kRelayAckBytes in all whose body begins with kRelayAckMark
#pragma once

#include <string_view>

#include "load/protocol.h"

namespace taut::load {

inline constexpr uint32_t kRelayHeaderBytes = 4;
inline constexpr uint32_t kRelayAckBytes = 64;
inline constexpr char kRelayAckMark = 'A';
inline constexpr std::string_view kRelayOk = "ok\n";
inline constexpr std::string_view kRelayAcks = "acks\n";

[[nodiscard]] std::unique_ptr<Protocol> make_relay_protocol(const Url& url, const LoadChatOptions& options);

}  // namespace taut::load
