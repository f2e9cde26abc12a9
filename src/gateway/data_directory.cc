#include "gateway/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace taut::gateway {

Result<net::Fd> lock_data_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail("cannot create the data directory " + path + ": " + error.message());
  const std::string lock = path + "/lock";
  net::Fd fd(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return fail_errno("cannot open " + lock);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return fd;
  if (errno == EWOULDBLOCK) {
    return fail("another taut uses the data directory " + path + ": stop it or choose another --data");
  }
  return fail_errno("cannot lock " + lock);
}

}  // namespace taut::gateway
