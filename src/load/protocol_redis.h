// Redis as a rival: one channel per pair, and each PUBLISH is answered with the number of its receivers.
#pragma once

#include "load/protocol.h"

namespace taut::load {

[[nodiscard]] std::unique_ptr<Protocol> make_redis_protocol(const Url& url, const LoadChatOptions& options);

}  // namespace taut::load
