#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "base/spin_locks_held.h"

namespace taut {

namespace {

constexpr mode_t kNewFileMode = 0600;
constexpr mode_t kNewDirectoryMode = 0700;
/// Parts that one pwritev takes (IOV_MAX on Linux); more are written in several calls.
constexpr size_t kPartsPerCall = 1024;

/// Closes what it holds.
class Descriptor {
 public:
  explicit Descriptor(int fd) noexcept : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

Result<Descriptor> open_descriptor(const std::string& path, int flags) {
  assert_no_spin_lock_held();
  while (true) {
    const int fd = ::open(path.c_str(), flags | O_CLOEXEC, kNewFileMode);
    if (fd >= 0) return Descriptor(fd);
    if (errno != EINTR) return fail_errno(path);
  }
}

/// Reads until `out` is full or the file ends.
Result<size_t> read_fully(int fd, uint64_t offset, std::span<char> out, const std::string& path) {
  assert_no_spin_lock_held();
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n = ::pread(fd, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (n == 0) break;
    if (n > 0) {
      done += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      return fail_errno(path);
    }
  }
  return done;
}

class PosixFile final : public File {
 public:
  PosixFile(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  Status preallocate(uint64_t bytes) override {
    assert_no_spin_lock_held();
    // Returns the error instead of setting errno.
    const int error = ::posix_fallocate(descriptor_.get(), 0, static_cast<off_t>(bytes));
    if (error == 0 || bytes == 0) return {};
    errno = error;
    return fail_errno(path_);
  }

  Status resize(uint64_t bytes) override {
    if (::ftruncate(descriptor_.get(), static_cast<off_t>(bytes)) != 0) return fail_errno(path_);
    return {};
  }

  Status write_at(uint64_t offset, std::span<const std::string_view> parts) override {
    assert_no_spin_lock_held();
    size_t skip = 0;  // bytes of parts.front() that are written already
    while (!parts.empty()) {
      std::array<iovec, kPartsPerCall> vectors;
      const size_t count = std::min(parts.size(), vectors.size());
      for (size_t i = 0; i < count; ++i) {
        const std::string_view part = parts[i].substr(i == 0 ? skip : 0);
        vectors[i] = {const_cast<char*>(part.data()), part.size()};
      }
      const ssize_t n =
          ::pwritev(descriptor_.get(), vectors.data(), static_cast<int>(count), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail_errno(path_);
      offset += static_cast<uint64_t>(n);
      skip += static_cast<size_t>(n);
      while (!parts.empty() && skip >= parts.front().size()) {
        skip -= parts.front().size();
        parts = parts.subspan(1);
      }
    }
    return {};
  }

  Result<size_t> read_at(uint64_t offset, std::span<char> out) override {
    return read_fully(descriptor_.get(), offset, out, path_);
  }

  Status sync_data() override {
    assert_no_spin_lock_held();
    if (::fdatasync(descriptor_.get()) != 0) return fail_errno(path_);
    return {};
  }

  Result<uint64_t> size() override {
    struct stat status{};
    if (::fstat(descriptor_.get(), &status) != 0) return fail_errno(path_);
    return static_cast<uint64_t>(status.st_size);
  }

 private:
  const Descriptor descriptor_;
  const std::string path_;
};

}  // namespace

Status check_regular_file(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) return fail_errno(path);
  if (S_ISDIR(about.st_mode)) return fail(path + ": is a directory");
  return S_ISREG(about.st_mode) ? Status() : fail(path + ": is no regular file");
}

Result<std::string> PosixFileSystem::read_front(const std::string& path, size_t most) {
  if (const Status regular = check_regular_file(path); !regular) return std::unexpected(regular.error());
  const Result<Descriptor> descriptor = open_descriptor(path, O_RDONLY);
  if (!descriptor) return std::unexpected(descriptor.error());
  std::string content(most, '\0');  // the size that stat gives may be a lie (/proc)
  const Result<size_t> size = read_fully(descriptor->get(), 0, content, path);
  if (!size) return std::unexpected(size.error());
  content.resize(*size);
  return content;
}

Result<std::unique_ptr<File>> PosixFileSystem::open(const std::string& path) {
  Result<Descriptor> descriptor = open_descriptor(path, O_RDWR | O_CREAT);
  if (!descriptor) return std::unexpected(descriptor.error());
  return std::make_unique<PosixFile>(*std::move(descriptor), path);
}

Result<std::unique_ptr<File>> PosixFileSystem::open_for_reading(const std::string& path) {
  if (const Status regular = check_regular_file(path); !regular) return std::unexpected(regular.error());
  Result<Descriptor> descriptor = open_descriptor(path, O_RDONLY);
  if (!descriptor) return std::unexpected(descriptor.error());
  return std::make_unique<PosixFile>(*std::move(descriptor), path);
}

Result<bool> PosixFileSystem::exists(const std::string& path) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) == 0) return true;
  if (errno == ENOENT) return false;
  return fail_errno(path);
}

Status PosixFileSystem::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return fail_errno(from + " to " + to);
  return {};
}

Status PosixFileSystem::remove(const std::string& path) {
  if (::unlink(path.c_str()) != 0) return fail_errno(path);
  return {};
}

Status PosixFileSystem::create_directory(const std::string& path) {
  if (::mkdir(path.c_str(), kNewDirectoryMode) == 0) return {};
  if (errno != EEXIST) return fail_errno(path);
  // EEXIST is said of files as well.
  const Result<Descriptor> descriptor = open_descriptor(path, O_RDONLY | O_DIRECTORY);
  return descriptor ? Status() : std::unexpected(descriptor.error());
}

Result<std::vector<std::string>> PosixFileSystem::list_directory(const std::string& path) {
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  const std::unique_ptr<DIR, Close> stream(::opendir(path.c_str()));
  if (!stream) return fail_errno(path);
  std::vector<std::string> names;
  while (true) {
    errno = 0;  // the end and an error both give a null pointer
    const dirent* const entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return fail_errno(path);
  std::ranges::sort(names);
  return names;
}

Status PosixFileSystem::sync_directory(const std::string& path) {
  const Result<Descriptor> descriptor = open_descriptor(path, O_RDONLY | O_DIRECTORY);
  if (!descriptor) return std::unexpected(descriptor.error());
  if (::fsync(descriptor->get()) != 0) return fail_errno(path);
  return {};
}

}  // namespace taut
