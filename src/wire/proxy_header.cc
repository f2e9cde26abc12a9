#include "wire/proxy_header.h"

#include <algorithm>
#include <cstring>

namespace taut::wire {

namespace {

constexpr std::string_view kSignature("\r\n\r\n\0\r\nQUIT\n", 12);
constexpr size_t kIpv4Bytes = 12;  // two addresses, two ports
constexpr size_t kIpv6Bytes = 36;

uint8_t byte_at(std::string_view in, size_t at) {
  return static_cast<uint8_t>(in[at]);
}

ProxyHeader refuse(std::string_view detail) {
  return {.kind = ProxyHeader::Kind::error, .detail = detail};
}

ProxyHeader with_source(ProxyHeader header, std::string_view in, uint8_t family) {
  const size_t rest = header.size - kProxyHeaderBytes;
  const char* from = in.data() + kProxyHeaderBytes;
  if (family == 0x11) {
    if (rest < kIpv4Bytes) return refuse("too short for IPv4");
    header.source[10] = header.source[11] = 0xff;
    std::memcpy(header.source.data() + 12, from, 4);
  } else {
    if (rest < kIpv6Bytes) return refuse("too short for IPv6");
    std::memcpy(header.source.data(), from, header.source.size());
  }
  header.has_source = true;
  return header;
}

}  // namespace

ProxyHeader parse_proxy_header(std::string_view in) {
  const size_t common = std::min(in.size(), kSignature.size());
  if (in.substr(0, common) != kSignature.substr(0, common)) return refuse("not PROXY version 2");
  if (in.size() < kProxyHeaderBytes) return {};
  const uint8_t command = byte_at(in, 12);
  const uint8_t family = byte_at(in, 13);
  if (command != 0x20 && command != 0x21) return refuse("neither LOCAL nor PROXY of version 2");
  ProxyHeader header;
  header.size += size_t{byte_at(in, 14)} << 8 | byte_at(in, 15);
  if (header.size > kProxyHeaderBytesMax) return refuse("too long");
  const bool names_client =
      command == 0x21 && family != 0x00 && family != 0x31;  // unspecified, a local socket
  if (names_client && family != 0x11 && family != 0x21) return refuse("not TCP over IPv4 or IPv6");
  if (in.size() < header.size) return header;
  header.kind = ProxyHeader::Kind::header;
  return names_client ? with_source(header, in, family) : header;
}

}  // namespace taut::wire
