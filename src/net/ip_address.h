// Addresses of peers, and the networks that are trusted.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

struct sockaddr_storage;

namespace taut::net {

/// IPv4 or IPv6; IPv4 as ::ffff:a.b.c.d, so that both compare and are matched alike.
struct IpAddress {
  std::array<uint8_t, 16> bytes{};

  [[nodiscard]] static IpAddress of(const sockaddr_storage& storage);
  /// "192.0.2.7" or "2001:db8::7", without brackets and port.
  [[nodiscard]] static std::optional<IpAddress> parse(std::string_view text);
  friend bool operator==(const IpAddress&, const IpAddress&) = default;
};

/// An address in words, without a heap: for a log line.
class IpText {
 public:
  explicit IpText(const IpAddress& address);
  operator std::string_view() const { return {text_.data(), size_}; }  // NOLINT(google-explicit-constructor)

 private:
  std::array<char, 46> text_{};
  size_t size_ = 0;
};

/// All addresses that share their first bits.
class IpNetwork {
 public:
  /// "10.0.0.0/8", "2001:db8::/32", or one address.
  [[nodiscard]] static Result<IpNetwork> parse(std::string_view text);
  [[nodiscard]] bool contains(const IpAddress& address) const;

 private:
  IpAddress base_;
  uint32_t bits_ = 128;
};

}  // namespace taut::net
