#include "load/tcp_socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

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

Result<TcpSocket> TcpSocket::dial(const std::string& host, uint16_t port) {
  TcpSocket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.fd_ < 0) return fail_errno("socket");
  socket.set_deadline(kSetUpSeconds);
  if (Status s = socket.connect(host, port); !s) return std::unexpected(s.error());
  return socket;
}

Result<TcpSocket> TcpSocket::begin(const std::string& host, uint16_t port, int receive_buffer) {
  TcpSocket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.fd_ < 0) return fail_errno("socket");
  if (receive_buffer != 0)
    ::setsockopt(socket.fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
  if (Status s = socket.connect(host, port); !s) return std::unexpected(s.error());
  return socket;
}

Status TcpSocket::connect(const std::string& host, uint16_t port) const {
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) return fail("not an IPv4 address: " + host);
  const bool connected = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
  if (connected || errno == EINPROGRESS) return {};
  return fail_errno("connect to " + host + ":" + std::to_string(port));
}

Status TcpSocket::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno("send");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

Status TcpSocket::receive_some(std::string& into) {
  std::array<char, 16'384> buffer;
  while (true) {
    const ssize_t n = ::recv(fd_, buffer.data(), buffer.size(), 0);
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
