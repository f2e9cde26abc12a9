// The secrets that sign and verify tokens, read from files and wiped when no longer needed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace taut::auth {

inline constexpr size_t kSecretBytesMin = 32;
inline constexpr size_t kSecretBytesMax = 4096;

/// One secret. Move only; its memory is wiped on destruction.
class Secret {
 public:
  /// Takes a copy; wiping `bytes` is the caller's affair. REQUIRES: kSecretBytesMin <= size <=
  /// kSecretBytesMax.
  explicit Secret(std::string_view bytes);
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret&& other) noexcept;
  ~Secret();

  [[nodiscard]] std::string_view bytes() const noexcept { return {memory_.get(), size_}; }

 private:
  void wipe() noexcept;

  std::unique_ptr<char[]> memory_;
  size_t size_ = 0;
};

/// One or more secrets: the first signs, all verify. Constant after construction, so any thread may read it.
class Secrets {
 public:
  /// Each file's bytes without one trailing line feed. Error: no path, a file that cannot be read,
  /// or one with fewer than 32 or more than 4,096 bytes; the message names the setting that gave the path,
  /// the file and the remedy, and never the content.
  [[nodiscard]] static Result<Secrets> load(FileSystem& files, std::span<const std::string> paths,
                                            std::string_view setting = "--secret-file");
  /// REQUIRES: not empty.
  explicit Secrets(std::vector<Secret> secrets);

  [[nodiscard]] const Secret& signing() const noexcept { return secrets_.front(); }
  [[nodiscard]] std::span<const Secret> all() const noexcept { return secrets_; }

 private:
  std::vector<Secret> secrets_;
};

}  // namespace taut::auth
