// Which web pages may open a connection: the Origin rule of the protocol.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace taut::auth {

/// True without an Origin header (not a browser); for an origin whose host and port are those of the Host
/// header; and for one in `allowed`, whose entries look like "https://shop.example" or
/// "http://localhost:3000". Letters are compared without case, and :80 and :443 are what http and https mean
/// anyway. "null" only passes if it is listed.
[[nodiscard]] bool origin_accepted(std::optional<std::string_view> origin, std::string_view host,
                                   std::span<const std::string> allowed);

}  // namespace taut::auth
