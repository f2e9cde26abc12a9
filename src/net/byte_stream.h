// A connected socket's bytes, plain or through TLS: the same two calls, and it can change threads as a whole.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>

#include "net/socket.h"
#include "net/tls.h"

namespace taut::net {

/// Owns the descriptor and the TLS session above it. One thread at a time. A plain stream costs one test of a
/// pointer more than its system call.
class ByteStream {
 public:
  ByteStream() = default;
  explicit ByteStream(Fd fd) : fd_(std::move(fd)) {}
  ByteStream(Fd fd, TlsSession tls) : fd_(std::move(fd)), tls_(std::move(tls)) {}

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] bool encrypted() const { return static_cast<bool>(tls_); }
  /// REQUIRES: encrypted(). See TlsSession.
  [[nodiscard]] Io handshake() { return tls_.handshake(); }
  [[nodiscard]] bool handshake_wants_to_write() const { return tls_.wants_to_write(); }

  /// What has come, at most the room. REQUIRES: room for TlsSession::kRecordBytes when encrypted.
  [[nodiscard]] IoResult read(std::span<char> room);
  /// What has come before TLS begins, at most the room.
  [[nodiscard]] IoResult read_plain(std::span<char> room);
  /// As much of the pieces as the socket takes at once: `bytes` of them are written even when the status is
  /// would_block. After done, some may be left, and the socket may take more. REQUIRES: at least one piece.
  [[nodiscard]] IoResult write(std::span<const iovec> pieces);
  /// The first so many of the bytes not written must stay as they are (see TlsSession::write).
  [[nodiscard]] uint32_t promised_bytes() const { return tls_.promised_bytes(); }

  /// Ends our half; the peer may still send.
  void end_writing();
  void close();

 private:
  Fd fd_;
  TlsSession tls_;
};

}  // namespace taut::net
