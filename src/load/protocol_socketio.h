// socket.io as a rival: tools/peers/socketio_relay.mjs, over its WebSocket transport alone.
//
//   engine.io   the first character of each text: 0 open, 2 ping, 3 pong, 4 message
//   socket.io   behind that 4: 0 connected, 1 disconnected, 2 an event, 4 refused
//   event       42["m","<text>"]
#pragma once

#include "load/protocol.h"

namespace taut::load {

[[nodiscard]] std::unique_ptr<Protocol> make_socketio_protocol(const Url& url,
                                                               const LoadChatOptions& options);

}  // namespace taut::load
