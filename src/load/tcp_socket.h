// A TCP connection that owns its descriptor: blocking with a deadline during set-up, non-blocking on the
// clock.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct ssl_st;  // OpenSSL's SSL

namespace taut::load {

/// scheme://host:port/path, split.
struct Url {
  std::string scheme;
  std::string host;  ///< an IPv4 address
  uint16_t port = 0;
  std::string path;  ///< "/" when the text has none

  [[nodiscard]] bool encrypted() const { return scheme == "wss"; }
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
  TcpSocket(TcpSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)), tls_(std::move(other.tls_)) {}
  TcpSocket& operator=(TcpSocket&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(tls_, other.tls_);
    return *this;
  }
  TcpSocket(const TcpSocket&) = delete;
  TcpSocket& operator=(const TcpSocket&) = delete;
  ~TcpSocket();

  /// Connects, blocking, with TCP_NODELAY and the set-up's deadline on every later blocking call. With wss://
  /// the TLS handshake is done, too; whoever answers is believed: a load generator has nothing to protect.
  [[nodiscard]] static Result<TcpSocket> dial(const Url& url);

  /// Begins to connect and does not wait: non-blocking, with TCP_NODELAY. `receive_buffer` bytes are asked of
  /// the kernel; 0: its own choice.
  [[nodiscard]] static Result<TcpSocket> begin(const std::string& host, uint16_t port,
                                               int receive_buffer = 0);

  [[nodiscard]] int fd() const { return fd_; }

  /// As ::send and ::recv: a count, 0 at the end of the stream, or -1 and errno. With TLS a receive takes
  /// what fits of one record, so give it 16 KiB of room. After EAGAIN, a send wants the same bytes again, and
  /// maybe more behind them.
  [[nodiscard]] ssize_t send(std::string_view bytes) const;
  [[nodiscard]] ssize_t receive(std::span<char> room) const;

  // Blocking, during set-up.
  [[nodiscard]] Status send_all(std::string_view bytes);
  /// Appends at least one byte. An end of stream is an error.
  [[nodiscard]] Status receive_some(std::string& into);
  void set_blocking(bool blocking);
  /// For every later blocking call.
  void set_deadline(int64_t seconds);

 private:
  struct FreeTls {
    void operator()(ssl_st* tls) const noexcept;
  };

  [[nodiscard]] Status connect(const std::string& host, uint16_t port, bool wait) const;
  [[nodiscard]] Status encrypt();

  int fd_ = -1;
  std::unique_ptr<ssl_st, FreeTls> tls_;  // none: plain
};

}  // namespace taut::load
