#include "load/tcp_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>

namespace taut::load {

Result<Url> parse_url(std::string_view text) {
  const auto bad = [&] {
    return fail("not a URL of the form scheme://a.b.c.d:port/path: " + std::string(text));
  };
  Url url;
  const size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos || scheme_end == 0) return bad();
  url.scheme = text.substr(0, scheme_end);
  std::string_view rest = text.substr(scheme_end + 3);
  const size_t path_at = std::min(rest.find('/'), rest.size());
  url.path = path_at == rest.size() ? "/" : rest.substr(path_at);
  rest = rest.substr(0, path_at);
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return bad();
  url.host = rest.substr(0, colon);
  in_addr address{};
  if (inet_pton(AF_INET, url.host.c_str(), &address) != 1) return bad();
  const char* end = rest.data() + rest.size();
  const auto [stopped, error] = std::from_chars(rest.data() + colon + 1, end, url.port);
  if (error != std::errc{} || stopped != end) return bad();
  return url;
}

namespace {

// OpenSSL's result as that of a system call.
ssize_t as_call(SSL* tls, int result) {
  if (result > 0) return result;
  const int saved = errno;
  switch (SSL_get_error(tls, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      errno = EAGAIN;
      return -1;
    case SSL_ERROR_ZERO_RETURN:
      return 0;
    case SSL_ERROR_SYSCALL:
      errno = saved;
      return -1;
    default:
      errno = EPROTO;
      return -1;
  }
}

}  // namespace

Status allow_descriptors(uint64_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return fail_errno("getrlimit");
  if (limit.rlim_max < wanted)
    return fail("only " + std::to_string(limit.rlim_max) + " open files are allowed");
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? Status() : Status(fail_errno("setrlimit"));
}

TcpSocket::~TcpSocket() {
  if (fd_ >= 0) ::close(fd_);
}

void TcpSocket::FreeTls::operator()(ssl_st* tls) const noexcept {
  SSL_free(tls);
}

Result<TcpSocket> TcpSocket::dial(const Url& url) {
  TcpSocket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.fd_ < 0) return fail_errno("socket");
  socket.set_deadline(kSetUpSeconds);
  if (Status s = socket.connect(url.host, url.port, true); !s) return std::unexpected(s.error());
  if (!url.encrypted()) return socket;
  if (Status s = socket.encrypt(); !s) return std::unexpected(s.error());
  return socket;
}

Status TcpSocket::encrypt() {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  &SSL_CTX_free);
  if (context == nullptr) return fail("OpenSSL cannot make a TLS context");
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  tls_.reset(SSL_new(context.get()));
  if (tls_ == nullptr || SSL_set_fd(tls_.get(), fd_) != 1) return fail("OpenSSL cannot make a TLS session");
  if (SSL_connect(tls_.get()) == 1) return {};
  const char* why = ERR_reason_error_string(ERR_peek_error());
  const std::string reason = why == nullptr ? "the server closed the connection" : why;
  ERR_clear_error();
  return fail("TLS handshake: " + reason);
}

Result<TcpSocket> TcpSocket::begin(const std::string& host, uint16_t port, int receive_buffer) {
  TcpSocket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.fd_ < 0) return fail_errno("socket");
  if (receive_buffer != 0)
    ::setsockopt(socket.fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
  if (Status s = socket.connect(host, port, false); !s) return std::unexpected(s.error());
  return socket;
}

Status TcpSocket::connect(const std::string& host, uint16_t port, bool wait) const {
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return fail("not an IPv4 address: " + host);
  const bool connected = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  // On a blocking socket the same errno means that the time is over.
  if (connected || (!wait && errno == EINPROGRESS)) return {};
  return fail_errno("connect to " + host + ":" + std::to_string(port));
}

ssize_t TcpSocket::send(std::string_view bytes) const {
  if (!tls_) return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  ERR_clear_error();  // another connection's, which SSL_get_error would take for this one's
  return as_call(tls_.get(), SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size())));
}

ssize_t TcpSocket::receive(std::span<char> room) const {
  if (!tls_) return ::recv(fd_, room.data(), room.size(), 0);
  ERR_clear_error();
  return as_call(tls_.get(), SSL_read(tls_.get(), room.data(), static_cast<int>(room.size())));
}

Status TcpSocket::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("send");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status TcpSocket::receive_some(std::string& into) {
  std::array<char, 16'384> buffer;
  while (true) {
    const ssize_t n = receive(buffer);
    if (n > 0) {
      into.append(buffer.data(), static_cast<size_t>(n));
      return {};
    }
    if (n == 0) return fail("the server closed the connection");
    if (errno == EAGAIN) return fail("no answer in time");
    if (errno != EINTR) return fail_errno("recv");
  }
}

void TcpSocket::set_blocking(bool blocking) {
  const int flags = ::fcntl(fd_, F_GETFL);
  ::fcntl(fd_, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

void TcpSocket::set_deadline(int64_t seconds) {
  const timeval deadline{.tv_sec = seconds, .tv_usec = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline));
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof(deadline));
}

}  // namespace taut::load
