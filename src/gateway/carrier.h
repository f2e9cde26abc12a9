// By what a chat connection carries its messages.
#pragma once

#include <cstdint>

namespace taut::gateway {

enum class Carrier : uint8_t {
  websocket,  ///< JSON objects in text frames, behind a handshake over HTTP
  compact,    ///< type, conversation and payload in netstrings, from the first byte on
};

}  // namespace taut::gateway
