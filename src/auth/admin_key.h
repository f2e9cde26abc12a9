// The key that opens the HTTP API.
#pragma once

#include <string>
#include <string_view>

#include "auth/secret.h"
#include "base/file.h"
#include "base/result.h"

namespace taut::auth {

/// Constant after construction; any thread.
class AdminKey {
 public:
  /// The file's bytes without one trailing line feed, with the limits of a Secret.
  [[nodiscard]] static Result<AdminKey> load(FileSystem& files, const std::string& path);

  /// Whether an Authorization header is "Bearer <this key>". Compared in constant time.
  [[nodiscard]] bool matches(std::string_view authorization) const;

 private:
  explicit AdminKey(Secrets key) : key_(std::move(key)) {}
  Secrets key_;
};

}  // namespace taut::auth
