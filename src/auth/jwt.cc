#include "auth/jwt.h"

#include <vector>

#include "auth/base64url.h"
#include "auth/claims_json.h"
#include "auth/hmac.h"
#include "base/assert.h"

namespace taut::auth {

namespace {

constexpr std::string_view kHeaderJson = R"({"alg":"HS256","typ":"JWT"})";
constexpr int64_t kMsPerSecond = 1000;

std::string make_header() {
  std::string header;
  append_base64url(header, kHeaderJson);
  return header;
}

/// header.claims.signature, and what the signature is about.
struct Parts {
  std::string_view header;
  std::string_view claims;
  std::string_view signature;
  std::string_view signed_text;
};

std::optional<Parts> split(std::string_view token) {
  const size_t first = token.find('.');
  const size_t last = token.rfind('.');
  if (first == last) return std::nullopt;  // none or one
  const std::string_view claims = token.substr(first + 1, last - first - 1);
  return Parts{token.substr(0, first), claims, token.substr(last + 1), token.substr(0, last)};
}

}  // namespace

std::string_view fault_name(TokenFault fault) {
  switch (fault) {
    case TokenFault::too_large:
      return "too_large";
    case TokenFault::malformed:
      return "malformed";
    case TokenFault::wrong_algorithm:
      return "wrong_algorithm";
    case TokenFault::bad_signature:
      return "bad_signature";
    case TokenFault::bad_claim:
      return "bad_claim";
    case TokenFault::expired:
      return "expired";
    case TokenFault::not_yet_valid:
      return "not_yet_valid";
    case TokenFault::wrong_role:
      return "wrong_role";
    case TokenFault::wrong_site:
      return "wrong_site";
  }
  return "";
}

struct Verifier::Impl {
  std::vector<Hmac> macs;
  ClaimsReader reader;
  const std::string usual_header = make_header();
  std::array<char, base64url_decoded_bytes_max(kTokenBytesMax) + ClaimsReader::kPadding> decoded{};

  /// The part's bytes in `decoded`, until the next call.
  std::optional<std::span<const char>> decode(std::string_view part) {
    const std::optional<size_t> size = decode_base64url(part, decoded);
    if (!size) return std::nullopt;
    return std::span<const char>(decoded.data(), *size);
  }

  std::expected<void, TokenFault> check_header(std::string_view header) {
    if (header == usual_header) return {};
    const auto json = decode(header);
    if (!json) return std::unexpected(TokenFault::malformed);
    return reader.read_header(*json);
  }

  std::expected<void, TokenFault> check_signature(const Parts& parts) {
    const auto signature = decode(parts.signature);
    if (!signature) return std::unexpected(TokenFault::malformed);
    const std::string_view given(signature->data(), signature->size());
    for (Hmac& mac : macs) {
      if (equal_in_constant_time(mac.digest(parts.signed_text), given)) return {};
    }
    return std::unexpected(TokenFault::bad_signature);
  }

  std::expected<Claims, TokenFault> read_claims(std::string_view part, int64_t wall_ms) {
    const auto json = decode(part);
    if (!json) return std::unexpected(TokenFault::malformed);
    const auto outcome = reader.read_claims(*json);
    if (!outcome) return std::unexpected(outcome.error());
    if (wall_ms >= outcome->claims.expires_s * kMsPerSecond) return std::unexpected(TokenFault::expired);
    if (wall_ms < outcome->not_before_s * kMsPerSecond) return std::unexpected(TokenFault::not_yet_valid);
    return outcome->claims;
  }
};

Verifier::Verifier(const Secrets& secrets) : impl_(std::make_unique<Impl>()) {
  for (const Secret& secret : secrets.all()) impl_->macs.emplace_back(secret);
}

Verifier::~Verifier() = default;

std::expected<Claims, TokenFault> Verifier::verify(std::string_view token, int64_t wall_ms) {
  if (token.size() > kTokenBytesMax) return std::unexpected(TokenFault::too_large);
  const std::optional<Parts> parts = split(token);
  if (!parts) return std::unexpected(TokenFault::malformed);
  if (const auto header = impl_->check_header(parts->header); !header) return std::unexpected(header.error());
  if (const auto signature = impl_->check_signature(*parts); !signature)
    return std::unexpected(signature.error());
  return impl_->read_claims(parts->claims, wall_ms);
}

std::expected<void, TokenFault> check_use(const Claims& claims, Role role, std::string_view site) {
  if (claims.role != role) return std::unexpected(TokenFault::wrong_role);
  if (claims.site != site) return std::unexpected(TokenFault::wrong_site);
  return {};
}

struct Signer::Impl {
  Hmac mac;
};

Signer::Signer(const Secrets& secrets) : impl_(new Impl{Hmac(secrets.signing())}) {}

Signer::~Signer() = default;

std::string Signer::sign(const Claims& claims) {
  std::string token = make_header() + '.';
  append_base64url(token, claims_to_json(claims));
  const Hmac::Digest digest = impl_->mac.digest(token);
  token += '.';
  append_base64url(token, {digest.data(), digest.size()});
  TAUT_ASSERT(token.size() <= kTokenBytesMax);
  return token;
}

}  // namespace taut::auth
