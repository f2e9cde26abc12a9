#include "auth/secret.h"

#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"

namespace taut::auth {

namespace {

std::string_view without_trailing_newline(std::string_view content) {
  if (content.ends_with('\n')) content.remove_suffix(1);
  return content;
}

/// The remedy for a file that is not there or holds too little.
std::string make_one(const std::string& path) {
  return "make one: (umask 077; head -c 32 /dev/urandom | base64 > " + path + ")";
}

}  // namespace

Secret::Secret(std::string_view bytes) : memory_(new char[bytes.size()]), size_(bytes.size()) {
  TAUT_ASSERT(size_ >= kSecretBytesMin && size_ <= kSecretBytesMax);
  std::memcpy(memory_.get(), bytes.data(), size_);
}

Secret::Secret(Secret&& other) noexcept
    : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}

Secret& Secret::operator=(Secret&& other) noexcept {
  if (this != &other) {
    wipe();
    memory_ = std::move(other.memory_);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

Secret::~Secret() {
  wipe();
}

void Secret::wipe() noexcept {
  if (memory_ != nullptr) secure_wipe(memory_.get(), size_);
}

Result<Secrets> Secrets::load(FileSystem& files, std::span<const std::string> paths,
                              std::string_view setting) {
  const std::string flag(setting);
  if (paths.empty()) return fail("no secret file given: tokens need at least one (" + flag + ")");
  std::vector<Secret> secrets;
  for (const std::string& path : paths) {
    // A line feed may follow, and one byte more shows that there are too many.
    Result<std::string> content = files.read_front(path, kSecretBytesMax + 2);
    if (!content) return fail(flag + " " + content.error().message + "; if there is none, " + make_one(path));
    const std::string_view bytes = without_trailing_newline(*content);
    const bool long_enough = bytes.size() >= kSecretBytesMin;
    const bool short_enough = bytes.size() <= kSecretBytesMax;
    if (long_enough && short_enough) secrets.emplace_back(bytes);
    secure_wipe(content->data(), content->size());
    if (!long_enough) {
      return fail(flag + " " + path + ": shorter than " + std::to_string(kSecretBytesMin) + " bytes; " +
                  make_one(path));
    }
    if (!short_enough) {
      return fail(flag + " " + path + ": longer than " + std::to_string(kSecretBytesMax) +
                  " bytes; is it the right file? 32 random bytes are enough");
    }
  }
  return Secrets(std::move(secrets));
}

Secrets::Secrets(std::vector<Secret> secrets) : secrets_(std::move(secrets)) {
  TAUT_ASSERT(!secrets_.empty());
}

}  // namespace taut::auth
