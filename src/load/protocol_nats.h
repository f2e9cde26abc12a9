// NATS as a rival: one subject per pair, a publisher and a subscriber, no acknowledgements.
#pragma once

#include "load/protocol.h"

namespace taut::load {

[[nodiscard]] std::unique_ptr<Protocol> make_nats_protocol(const Url& url, const LoadChatOptions& options);

}  // namespace taut::load
