// Descriptors as owners, addresses as text, and the few socket calls that the server makes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "net/ip_address.h"

namespace taut::net {

/// Owns a descriptor and closes it.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

/// A listening, non-blocking TCP socket on "HOST:PORT" (IPv4, or IPv6 in brackets; port 0: a free one).
/// Error: the address cannot be parsed or bound, in one line with the remedy.
[[nodiscard]] Result<Fd> listen_on(std::string_view address);

/// "HOST:PORT" as really bound.
[[nodiscard]] std::string local_address(int fd);

/// The next waiting connection, non-blocking, TCP_NODELAY.
struct Accepted {
  Fd fd;  ///< empty when there is none
  IpAddress peer;
  bool exhausted = false;  ///< the process is out of descriptors, and the connection stays in the backlog
};
[[nodiscard]] Accepted accept_from(int listener);

/// Writes what the socket takes at once and lets the rest go: a last word to somebody who is turned away.
void send_last_word(int fd, std::string_view bytes);

/// Raises RLIMIT_NOFILE to its hard limit; gives the number of descriptors that the process may have.
[[nodiscard]] uint64_t raise_descriptor_limit();

/// Errors of one read or write as the caller has to treat them.
enum class Io : uint8_t { done, would_block, closed };

struct IoResult {
  Io status = Io::closed;
  uint32_t bytes = 0;
};

}  // namespace taut::net
