// The two JSON objects of a token, its header and its claims, read strictly and written.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>

#include "auth/jwt.h"

namespace taut::auth {

/// Reads both objects with one parser; one thread. Strict where it matters: whole documents only, no claim
/// twice, every type as it must be. `json` stands in a buffer with kPadding readable bytes behind it.
class ClaimsReader {
 public:
  static constexpr size_t kPadding = 64;

  ClaimsReader();
  ClaimsReader(const ClaimsReader&) = delete;
  ClaimsReader& operator=(const ClaimsReader&) = delete;
  ~ClaimsReader();

  /// {"alg":"HS256"}, perhaps with "typ":"JWT"; other members are ignored, except for `crit` and a second
  /// `alg`.
  [[nodiscard]] std::expected<void, TokenFault> read_header(std::span<const char> json);

  /// The claims and, beside them, `nbf` (0 without one). The views last until the next call.
  struct Outcome {
    Claims claims;
    int64_t not_before_s = 0;
  };
  [[nodiscard]] std::expected<Outcome, TokenFault> read_claims(std::span<const char> json);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The claims as a JSON object, what is at its default left out. REQUIRES: within_limits(claims).
[[nodiscard]] std::string claims_to_json(const Claims& claims);

/// Ids are ids, name and capacity within their limits, expiry not negative: what both reader and signer ask
/// for.
[[nodiscard]] bool within_limits(const Claims& claims);

}  // namespace taut::auth
