#include "auth/admin_key.h"

#include <openssl/crypto.h>

#include <array>
#include <utility>

namespace taut::auth {

Result<AdminKey> AdminKey::load(FileSystem& files, const std::string& path) {
  const std::array<std::string, 1> paths{path};
  Result<Secrets> key = Secrets::load(files, paths, "--admin-key-file");
  if (!key) return std::unexpected(key.error());
  return AdminKey(std::move(*key));
}

bool AdminKey::matches(std::string_view authorization) const {
  constexpr std::string_view kScheme = "Bearer ";
  if (!authorization.starts_with(kScheme)) return false;
  const std::string_view given = authorization.substr(kScheme.size());
  const std::string_view key = key_.signing().bytes();
  return given.size() == key.size() && CRYPTO_memcmp(given.data(), key.data(), key.size()) == 0;
}

}  // namespace taut::auth
