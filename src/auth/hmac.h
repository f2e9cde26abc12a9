// HMAC-SHA256 with a key that is set once and used many times.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string_view>

#include "auth/secret.h"

namespace taut::auth {

/// One key's MAC; one thread. Aborts if the crypto library refuses (it has no SHA-256, or no memory): the
/// host is broken, and nothing may pass for signed.
class Hmac {
 public:
  static constexpr size_t kBytes = 32;
  using Digest = std::array<char, kBytes>;

  explicit Hmac(const Secret& secret);
  Hmac(Hmac&&) noexcept;
  Hmac& operator=(Hmac&&) noexcept;
  ~Hmac();

  [[nodiscard]] Digest digest(std::string_view message);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

/// Takes the same time wherever the two differ. False if `b` has not a digest's size.
[[nodiscard]] bool equal_in_constant_time(const Hmac::Digest& a, std::string_view b);

}  // namespace taut::auth
