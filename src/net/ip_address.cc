#include "net/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace taut::net {

namespace {

constexpr size_t kMappedBytes = 12;  // ::ffff: before an IPv4 address
constexpr std::array<uint8_t, kMappedBytes> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool is_ipv4(const IpAddress& address) {
  return std::equal(kMapped.begin(), kMapped.end(), address.bytes.begin());
}

}  // namespace

IpAddress IpAddress::of(const sockaddr_storage& storage) {
  IpAddress address;
  if (storage.ss_family == AF_INET) {
    std::ranges::copy(kMapped, address.bytes.begin());
    std::memcpy(address.bytes.data() + kMappedBytes,
                &reinterpret_cast<const sockaddr_in*>(&storage)->sin_addr, 4);
  } else if (storage.ss_family == AF_INET6) {
    std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_addr, 16);
  }
  return address;
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  std::array<char, INET6_ADDRSTRLEN> terminated{};
  if (text.size() >= terminated.size()) return std::nullopt;
  std::ranges::copy(text, terminated.begin());
  IpAddress address;
  if (inet_pton(AF_INET6, terminated.data(), address.bytes.data()) == 1) return address;
  std::ranges::copy(kMapped, address.bytes.begin());
  if (inet_pton(AF_INET, terminated.data(), address.bytes.data() + kMappedBytes) == 1) return address;
  return std::nullopt;
}

IpText::IpText(const IpAddress& address) {
  if (is_ipv4(address)) {
    inet_ntop(AF_INET, address.bytes.data() + kMappedBytes, text_.data(), INET6_ADDRSTRLEN);
  } else {
    inet_ntop(AF_INET6, address.bytes.data(), text_.data(), INET6_ADDRSTRLEN);
  }
  size_ = std::strlen(text_.data());
}

Result<IpNetwork> IpNetwork::parse(std::string_view text) {
  const auto expected = [] { return fail("a network like 10.0.0.0/8 or 2001:db8::/32, or one address"); };
  const size_t slash = text.find('/');
  const auto base = IpAddress::parse(text.substr(0, slash));
  if (!base) return expected();
  IpNetwork network;
  network.base_ = *base;
  if (slash == std::string_view::npos) return network;
  const std::string_view digits = text.substr(slash + 1);
  uint32_t bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  const uint32_t most = is_ipv4(*base) ? 32 : 128;
  if (error != std::errc{} || end != digits.data() + digits.size() || bits > most) return expected();
  network.bits_ = bits + (128 - most);
  return network;
}

bool IpNetwork::contains(const IpAddress& address) const {
  const uint32_t whole = bits_ / 8;
  if (!std::equal(base_.bytes.begin(), base_.bytes.begin() + whole, address.bytes.begin())) return false;
  if (bits_ % 8 == 0) return true;
  return ((base_.bytes[whole] ^ address.bytes[whole]) >> (8 - bits_ % 8)) == 0;
}

}  // namespace taut::net
