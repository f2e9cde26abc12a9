#include "gateway/client_address.h"

#include <algorithm>

namespace taut::gateway {

namespace {

/// Some proxies add a port: 192.0.2.7:4711, [2001:db8::7]:4711, [2001:db8::7].
std::string_view without_port(std::string_view entry) {
  if (entry.starts_with('[')) return entry.substr(1, entry.find(']') - 1);
  return std::ranges::count(entry, ':') == 1 ? entry.substr(0, entry.find(':')) : entry;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

bool is_in(const net::IpAddress& address, std::span<const net::IpNetwork> networks) {
  return std::ranges::any_of(networks, [&](const net::IpNetwork& n) { return n.contains(address); });
}

net::IpAddress client_address(net::IpAddress peer, std::string_view forwarded_for,
                              std::span<const net::IpNetwork> trusted) {
  while (!forwarded_for.empty() && is_in(peer, trusted)) {
    const size_t comma = forwarded_for.rfind(',');
    const bool last = comma == std::string_view::npos;
    const auto entry =
        net::IpAddress::parse(without_port(trimmed(last ? forwarded_for : forwarded_for.substr(comma + 1))));
    if (!entry) break;
    peer = *entry;
    forwarded_for = last ? std::string_view() : forwarded_for.substr(0, comma);
  }
  return peer;
}

}  // namespace taut::gateway
