// taut's own chat protocol on the carrier that the URL names: one visitor and one agent a pair, each pair one
// conversation.
#pragma once

#include "load/protocol.h"

namespace taut::load {

/// Errors: no secret, ids that the protocol does not allow.
[[nodiscard]] Result<std::unique_ptr<Protocol>> make_taut_protocol(const Url& url,
                                                                   const LoadChatOptions& options);

}  // namespace taut::load
