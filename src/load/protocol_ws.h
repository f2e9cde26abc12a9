// Node's `ws` as a rival: tools/peers/ws_relay.mjs, which pairs connections by the path of their upgrade.
#pragma once

#include "load/protocol.h"

namespace taut::load {

[[nodiscard]] std::unique_ptr<Protocol> make_ws_protocol(const Url& url, const LoadChatOptions& options);

}  // namespace taut::load
