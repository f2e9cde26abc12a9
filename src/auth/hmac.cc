#include "auth/hmac.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "base/assert.h"

namespace taut::auth {

namespace {

struct Release {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};

const unsigned char* as_unsigned(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

struct Hmac::Context {
  std::unique_ptr<EVP_MAC_CTX, Release> mac;
};

Hmac::Hmac(const Secret& secret) : context_(std::make_unique<Context>()) {
  const std::unique_ptr<EVP_MAC, Release> algorithm(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  TAUT_ASSERT(algorithm != nullptr);
  context_->mac.reset(EVP_MAC_CTX_new(algorithm.get()));
  TAUT_ASSERT(context_->mac != nullptr);
  char sha256[] = "SHA256";
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, sha256, 0),
                                   OSSL_PARAM_construct_end()};
  const std::string_view key = secret.bytes();
  TAUT_ASSERT(EVP_MAC_init(context_->mac.get(), as_unsigned(key), key.size(), parameters) == 1);
}

Hmac::Hmac(Hmac&&) noexcept = default;
Hmac& Hmac::operator=(Hmac&&) noexcept = default;
Hmac::~Hmac() = default;

Hmac::Digest Hmac::digest(std::string_view message) {
  EVP_MAC_CTX* const mac = context_->mac.get();
  Digest digest;
  size_t size = 0;
  // Without a key: starts anew with the one that is set.
  TAUT_ASSERT(EVP_MAC_init(mac, nullptr, 0, nullptr) == 1);
  TAUT_ASSERT(EVP_MAC_update(mac, as_unsigned(message), message.size()) == 1);
  TAUT_ASSERT(EVP_MAC_final(mac, reinterpret_cast<unsigned char*>(digest.data()), &size, digest.size()) == 1);
  TAUT_ASSERT(size == kBytes);
  return digest;
}

bool equal_in_constant_time(const Hmac::Digest& a, std::string_view b) {
  return b.size() == a.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace taut::auth
