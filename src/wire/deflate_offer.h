// What to answer to a client that offers to compress (RFC 7692, 7.1).
#pragma once

#include <string_view>

namespace taut::wire {

/// The Sec-WebSocket-Extensions of the answer: it takes the first of the client's `offers` of
/// permessage-deflate under which both sides may compress each message on its own, with the largest window.
/// Empty when there is none, or when the offers cannot be read. Static.
[[nodiscard]] std::string_view accept_deflate(std::string_view offers) noexcept;

}  // namespace taut::wire
