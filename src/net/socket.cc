#include "net/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace taut::net {

namespace {

constexpr int kBacklog = 4096;

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

Result<Address> parse_address(std::string_view text) {
  const size_t colon = text.rfind(':');
  const std::string shown(text);
  if (colon == std::string_view::npos)
    return fail("'" + shown + "' is not HOST:PORT, such as 127.0.0.1:8080");
  std::string host(text.substr(0, colon));
  const std::string_view digits = text.substr(colon + 1);
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    return fail("'" + shown + "': the port must be a number from 0 to 65535");
  }
  Address address;
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    address.length = sizeof(sockaddr_in6);
    if (inet_pton(AF_INET6, host.c_str(), &v6->sin6_addr) == 1) return address;
  } else {
    if (host == "localhost") host = "127.0.0.1";
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    address.length = sizeof(sockaddr_in);
    if (inet_pton(AF_INET, host.c_str(), &v4->sin_addr) == 1) return address;
  }
  return fail("'" + shown + "': the host must be a numeric address, such as 127.0.0.1, 0.0.0.0 or [::]");
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<Fd> listen_on(std::string_view text) {
  const Result<Address> address = parse_address(text);
  if (!address) return std::unexpected(address.error());
  const int family = address->storage.ss_family;
  Fd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fail_errno("cannot make a socket for " + std::string(text));
  const int on = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address->storage), address->length) != 0) {
    const bool taken = errno == EADDRINUSE;
    auto failed = fail_errno("cannot listen on " + std::string(text));
    if (taken) failed.error().message += "; another program has it: stop that one or choose another --listen";
    return failed;
  }
  if (::listen(fd.get(), kBacklog) != 0) return fail_errno("cannot listen on " + std::string(text));
  return fd;
}

std::string local_address(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return "?";
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &v6->sin6_addr, host.data(), host.size());
    return "[" + std::string(host.data()) + "]:" + std::to_string(ntohs(v6->sin6_port));
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
  inet_ntop(AF_INET, &v4->sin_addr, host.data(), host.size());
  return std::string(host.data()) + ":" + std::to_string(ntohs(v4->sin_port));
}

Accepted accept_from(int listener) {
  sockaddr_storage peer{};
  socklen_t length = sizeof(peer);
  Accepted accepted{.fd = Fd(::accept4(listener, reinterpret_cast<sockaddr*>(&peer), &length,
                                       SOCK_NONBLOCK | SOCK_CLOEXEC))};
  if (!accepted.fd) {
    accepted.exhausted = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS;
    return accepted;
  }
  accepted.peer = IpAddress::of(peer);
  const int on = 1;
  ::setsockopt(accepted.fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  return accepted;
}

void send_last_word(int fd, std::string_view bytes) {
  static_cast<void>(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

uint64_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  return limit.rlim_cur;
}

}  // namespace taut::net
