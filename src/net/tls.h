// TLS 1.2 and 1.3 by OpenSSL: the server's certificate, and what one connection needs to encrypt.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "net/socket.h"

struct ssl_ctx_st;
struct ssl_st;

namespace taut::net {

/// One connection's keys and state, above a descriptor that its ByteStream owns. One thread at a time; it may
/// change threads. Empty for a plain connection.
class TlsSession {
 public:
  TlsSession() = default;
  TlsSession(TlsSession&&) = default;
  TlsSession& operator=(TlsSession&&) = default;

  [[nodiscard]] explicit operator bool() const { return ssl_ != nullptr; }

  /// Goes on with the handshake as far as the bytes that have come allow. The step that signs takes 30 µs
  /// with an ECDSA key of 256 bits and about 1 ms with an RSA key of 2,048 bits.
  [[nodiscard]] Io handshake();
  /// After would_block: the handshake waits for room in the socket rather than for bytes.
  [[nodiscard]] bool wants_to_write() const;

  /// At most one record. REQUIRES: room for kRecordBytes, so that nothing read stays behind unseen.
  [[nodiscard]] IoResult read(std::span<char> room);
  /// At most one record of what the pieces hold. After would_block these bytes must come again, others only
  /// behind them: promised_bytes() says how many.
  [[nodiscard]] IoResult write(std::span<const iovec> pieces);
  [[nodiscard]] uint32_t promised_bytes() const { return promised_bytes_; }
  /// True when the kernel encrypts: write to the descriptor then, and never call write().
  [[nodiscard]] bool kernel_writes() const { return kernel_writes_; }
  /// Tells the peer that nothing follows.
  void end_writing();

  /// Payload of the longest record.
  static constexpr uint32_t kRecordBytes = 16'384;

 private:
  friend class TlsContext;
  struct Free {
    void operator()(ssl_st* ssl) const noexcept;
  };
  explicit TlsSession(ssl_st* ssl) : ssl_(ssl) {}

  std::unique_ptr<ssl_st, Free> ssl_;
  uint32_t promised_bytes_ = 0;
  bool kernel_writes_ = false;
};

/// A certificate with its chain and key. Constant once loaded: any thread makes sessions of it, which keep
/// what they need of it.
class TlsContext {
 public:
  /// Both files are PEM; the chain begins with the server's own certificate. Error: one line that begins with
  /// what is wrong and ends with the setting and the file.
  [[nodiscard]] static Result<std::shared_ptr<const TlsContext>> load(const std::string& cert_file,
                                                                      const std::string& key_file);
  /// The server's side of a new connection. Empty when there is no memory for it.
  [[nodiscard]] TlsSession session(int fd) const;

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const noexcept;
  };
  explicit TlsContext(std::unique_ptr<ssl_ctx_st, Free> context) : context_(std::move(context)) {}

  std::unique_ptr<ssl_ctx_st, Free> context_;
};

/// Whether the kernel can encrypt for us once a handshake is done (its module `tls`).
[[nodiscard]] bool kernel_has_tls();

}  // namespace taut::net
