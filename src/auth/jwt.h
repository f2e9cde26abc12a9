// Tokens: JSON web tokens with HMAC-SHA256 that say who a client is and what it may do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "auth/secret.h"
#include "base/identity.h"

namespace taut::auth {

inline constexpr size_t kTokenBytesMax = 4096;  ///< every token that Signer makes fits
inline constexpr size_t kGroupsMax = 32;
inline constexpr size_t kNameBytesMax = 256;
inline constexpr uint32_t kCapacityMax = 1000;

/// What a token says. The views point into the Verifier that made it and last until its next verify(), or to
/// whatever the signer's caller owns.
struct Claims {
  std::string_view id;  ///< `sub`
  Role role = Role::visitor;
  std::string_view site;
  int64_t expires_s = 0;  ///< `exp`, seconds since 1970
  std::optional<std::string_view> name = {};
  std::optional<uint32_t> capacity = {};  ///< agents: conversations at once
  bool may_open = true;                   ///< visitors: false forbids `open`
  uint32_t group_count = 0;
  std::array<std::string_view, kGroupsMax> group_ids{};

  [[nodiscard]] std::span<const std::string_view> groups() const { return {group_ids.data(), group_count}; }
};

/// Why a token is refused.
enum class TokenFault : uint8_t {
  too_large,        ///< longer than kTokenBytesMax
  malformed,        ///< not three canonical base64url parts with JSON objects in the first two
  wrong_algorithm,  ///< anything but HS256, or an extension (`crit`) that must be understood
  bad_signature,    ///< made with none of our secrets, or changed
  bad_claim,        ///< a claim missing, twice, of the wrong type or out of its limits
  expired,
  not_yet_valid,  ///< `nbf` lies ahead
  wrong_role,     ///< of somebody in another role
  wrong_site,     ///< of another site
};

/// A word for logs and metrics: "expired".
[[nodiscard]] std::string_view fault_name(TokenFault fault);

/// Verifies tokens. One per thread (it reuses its MAC contexts, parser and buffers); a verification costs a
/// few microseconds and allocates nothing of ours.
class Verifier {
 public:
  /// Keeps what it needs of the secrets.
  explicit Verifier(const Secrets& secrets);
  Verifier(const Verifier&) = delete;
  Verifier& operator=(const Verifier&) = delete;
  ~Verifier();

  /// The claims of a token that is whole, signed by us and valid at `wall_ms` (milliseconds since 1970). A
  /// token is expired from the first millisecond of `exp` on. Unknown claims are ignored.
  [[nodiscard]] std::expected<Claims, TokenFault> verify(std::string_view token, int64_t wall_ms);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// wrong_role or wrong_site unless the claims are those of a `role` of `site`.
[[nodiscard]] std::expected<void, TokenFault> check_use(const Claims& claims, Role role,
                                                        std::string_view site);

/// Makes tokens with the first secret. One thread.
class Signer {
 public:
  explicit Signer(const Secrets& secrets);
  Signer(const Signer&) = delete;
  Signer& operator=(const Signer&) = delete;
  ~Signer();

  /// REQUIRES: id, site and groups are valid ids, name and capacity within their limits.
  [[nodiscard]] std::string sign(const Claims& claims);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut::auth
