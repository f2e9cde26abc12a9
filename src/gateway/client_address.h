// Who is really at the other end, behind proxies that are trusted.
#pragma once

#include <span>
#include <string_view>

#include "net/ip_address.h"

namespace taut::gateway {

/// Walks X-Forwarded-For (all its headers joined by commas) from the right, as long as the one who wrote the
/// entry is trusted: the first address that is not, or the leftmost. What cannot be read ends the walk.
[[nodiscard]] net::IpAddress client_address(net::IpAddress peer, std::string_view forwarded_for,
                                            std::span<const net::IpNetwork> trusted);

[[nodiscard]] bool is_in(const net::IpAddress& address, std::span<const net::IpNetwork> networks);

}  // namespace taut::gateway
