// A TCP connection that owns its descriptor: blocking with a deadline during set-up, non-blocking on the
// clock.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace taut::load {

/// scheme://host:port/path, split.
struct Url {
  std::string scheme;
  std::string host;  ///< an IPv4 address
  uint16_t port = 0;
  std::string path;  ///< "/" when the text has none

  [[nodiscard]] std::string host_port() const { return host + ":" + std::to_string(port); }
};

/// Lets the process have `wanted` open files. Error: the host allows fewer.
[[nodiscard]] Status allow_descriptors(uint64_t wanted);

/// Errors name the text that could not be read.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

/// Move-only; closed on destruction. One thread.
class TcpSocket {
 public:
  /// How long one blocking step of the set-up may take before it is an error: longer than a server's bounded
  /// admission of handshakes delays one, short enough for a person to wait.
  static constexpr int64_t kSetUpSeconds = 20;

  TcpSocket() = default;
  explicit TcpSocket(int fd) : fd_(fd) {}
  TcpSocket(TcpSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  TcpSocket& operator=(TcpSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  TcpSocket(const TcpSocket&) = delete;
  TcpSocket& operator=(const TcpSocket&) = delete;
  ~TcpSocket();

  /// Connects, blocking, with TCP_NODELAY and the set-up's deadline on every later blocking call.
  [[nodiscard]] static Result<TcpSocket> dial(const std::string& host, uint16_t port);

  /// Begins to connect and does not wait: non-blocking, with TCP_NODELAY. `receive_buffer` bytes are asked of
  /// the kernel; 0: its own choice.
  [[nodiscard]] static Result<TcpSocket> begin(const std::string& host, uint16_t port,
                                               int receive_buffer = 0);

  [[nodiscard]] int fd() const { return fd_; }

  // Blocking, during set-up.
  [[nodiscard]] Status send_all(std::string_view bytes);
  /// Appends at least one byte. An end of stream is an error.
  [[nodiscard]] Status receive_some(std::string& into);
  void set_blocking(bool blocking);
  /// For every later blocking call.
  void set_deadline(int64_t seconds);

 private:
  [[nodiscard]] Status connect(const std::string& host, uint16_t port) const;

  int fd_ = -1;
};

}  // namespace taut::load
