// Feeds bytes to the verifier as they are, and again as header and as claims of a token that is rightly
// signed.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "auth/base64url.h"
#include "auth/hmac.h"
#include "auth/jwt.h"
#include "base/assert.h"

namespace taut::auth {
namespace {

constexpr std::string_view kSecret = "fuzz secret of thirty-two bytes!";
constexpr int64_t kWallMs = 1'600'000'000'000;

Secrets make_secrets() {
  std::vector<Secret> secrets;
  secrets.emplace_back(kSecret);
  return Secrets(std::move(secrets));
}

struct Fuzzed {
  Secrets secrets = make_secrets();
  Verifier verifier{secrets};
  Signer signer{secrets};
  Hmac mac{secrets.signing()};

  std::string signed_token(std::string_view header, std::string_view claims) {
    std::string token;
    append_base64url(token, header);
    token += '.';
    append_base64url(token, claims);
    const Hmac::Digest digest = mac.digest(token);
    token += '.';
    append_base64url(token, {digest.data(), digest.size()});
    return token;
  }

  /// What is accepted keeps its promises: it can be signed again, and reads the same.
  void check(std::string_view token) {
    const auto first = verifier.verify(token, kWallMs);
    if (!first) return;
    TAUT_ASSERT(valid_id(first->id) && valid_id(first->site));
    const std::string again = signer.sign(*first);
    const std::string id(first->id);
    const uint32_t groups = first->group_count;
    const auto second = verifier.verify(again, kWallMs);
    TAUT_ASSERT(second && second->id == id && second->group_count == groups);
  }
};

}  // namespace
}  // namespace taut::auth

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static taut::auth::Fuzzed fuzzed;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  fuzzed.check(input);
  fuzzed.check(fuzzed.signed_token(R"({"alg":"HS256","typ":"JWT"})", input));
  fuzzed.check(fuzzed.signed_token(input, R"({"sub":"v1","role":"visitor","site":"demo","exp":1700000000})"));
  return 0;
}
