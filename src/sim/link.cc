#include "sim/link.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace taut::sim {

namespace {

bool ended_by_the_other(int fd) {
  pollfd entry{.fd = fd, .events = POLLRDHUP, .revents = 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace

bool Link::connect(const Address& address) {
  cut();
  fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd_ >= 0 && ::connect(fd_, reinterpret_cast<const sockaddr*>(&address.name), address.size) == 0)
    return true;
  cut();
  return false;
}

bool Link::send_some(size_t most) {
  const size_t bytes = std::min(most, up_.size());
  if (fd_ < 0 || bytes == 0 || dead_ == Direction::up) return false;
  const ssize_t sent = ::send(fd_, up_.data(), bytes, MSG_NOSIGNAL);
  if (sent < 0 && errno != EAGAIN) up_.clear();  // the end shows when it is read
  if (sent <= 0) return false;
  up_.erase(0, static_cast<size_t>(sent));
  return true;
}

bool Link::receive_some(size_t most) {
  if (fd_ < 0 || dead_ == Direction::down) return false;
  std::array<char, 16'384> some;
  const ssize_t n = ::recv(fd_, some.data(), std::min(most, some.size()), 0);
  if (n > 0) {
    down_.append(some.data(), static_cast<size_t>(n));
    return true;
  }
  if (n == 0 || errno != EAGAIN) cut();
  return false;
}

void Link::cut() {
  if (dead_ == Direction::up && fd_ >= 0) silent_.push_back(std::exchange(fd_, -1));
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  dead_.reset();
  up_.clear();
  down_.clear();
}

void Link::half_open() {
  if (fd_ >= 0) silent_.push_back(std::exchange(fd_, -1));
  cut();
}

void Link::forget_half_open() {
  for (const int fd : silent_) ::close(fd);
  silent_.clear();
}

void Link::die(Direction direction) {
  if (fd_ >= 0 && !dead_) dead_ = direction;
}

bool Link::is_dying() {
  std::erase_if(silent_, [](int fd) {
    const bool ended = ended_by_the_other(fd);
    if (ended) ::close(fd);
    return ended;
  });
  return dead_ || !silent_.empty();
}

}  // namespace taut::sim
