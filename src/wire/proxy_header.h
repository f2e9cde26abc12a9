// The header of the PROXY protocol, version 2: what a proxy says about a connection before its first byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace taut::wire {

/// Bytes 0–11 signature; 12 version 2 and command (0 of the proxy's own accord, 1 for a client); 13 family
/// and transport; 14–15 length of the rest, big-endian; then for TCP over IPv4 (0x11) source and destination
/// of 4 bytes each and two ports, over IPv6 (0x21) of 16 bytes each and two ports; behind them fields that
/// are skipped.
inline constexpr size_t kProxyHeaderBytes = 16;
/// The longest header that is taken, its fields included.
inline constexpr size_t kProxyHeaderBytesMax = kProxyHeaderBytes + 1'024;

struct ProxyHeader {
  enum class Kind : uint8_t { need_more, header, error };
  Kind kind = Kind::need_more;
  size_t size = kProxyHeaderBytes;      ///< of the header, as far as it is known: read no byte beyond
  bool has_source = false;              ///< false: the proxy speaks for itself, or does not say for whom
  std::array<uint8_t, 16> source = {};  ///< the client's address; IPv4 as ::ffff:a.b.c.d
  std::string_view detail = {};         ///< error: static, in words
};

/// Parses the beginning of a connection. Stateless: call again with more after need_more.
[[nodiscard]] ProxyHeader parse_proxy_header(std::string_view in);

}  // namespace taut::wire
