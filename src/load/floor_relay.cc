#include "load/floor_relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/assert.h"
#include "load/protocol_relay.h"
#include "load/tcp_socket.h"

namespace taut::load {

namespace {

constexpr size_t kFloorReadBytes = size_t{256} * 1024;
constexpr size_t kAcksPerSend = 1024;
constexpr int kEventsPerWait = 256;
constexpr size_t kFloorLineBytesMax = 32;
constexpr int kBacklog = 1024;

// One ack as protocol_relay.h describes it.
std::string ack_frame() {
  std::string frame(kRelayAckBytes, '.');
  const uint32_t body = kRelayAckBytes - kRelayHeaderBytes;
  std::memcpy(frame.data(), &body, sizeof(body));
  frame[kRelayHeaderBytes] = kRelayAckMark;
  return frame;
}

}  // namespace

// A connection. `unsent` is what the kernel did not take; while it is not empty, whoever fills it is not
// read.
struct FloorRelay::Peer {
  int fd = -1;
  uint32_t watched = 0;      // epoll's view of it
  Peer* receiver = nullptr;  // of a joined sender
  Peer* sender = nullptr;    // of a joined receiver
  bool is_receiver = false;
  uint32_t pair = 0;
  std::string line;  // until joined
  std::string unsent;
  uint32_t body_left = 0;  // acks only: where the sender's current frame stands
  uint32_t header_bytes = 0;
  std::array<char, kRelayHeaderBytes> header{};
};

FloorRelay::FloorRelay(const FloorOptions& options) : options_(options), scratch_(kFloorReadBytes) {
  for (size_t i = 0; i < kAcksPerSend; ++i) acks_ += ack_frame();
}

FloorRelay::~FloorRelay() {
  for (const std::unique_ptr<Peer>& peer : peers_) {
    if (peer) ::close(peer->fd);
  }
  for (const int fd : {listener_, epoll_, stop_event_}) {
    if (fd >= 0) ::close(fd);
  }
}

Result<uint16_t> FloorRelay::listen() {
  Result<Url> url = parse_url("relay://" + options_.listen);
  if (!url) return std::unexpected(url.error());
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  stop_event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (epoll_ < 0 || stop_event_ < 0 || listener_ < 0) return fail_errno("descriptors for the relay");
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(url->port);
  inet_pton(AF_INET, url->host.c_str(), &address.sin_addr);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (::bind(listener_, generic, size) != 0 || ::listen(listener_, kBacklog) != 0 ||
      ::getsockname(listener_, generic, &size) != 0) {
    return fail_errno("listen on " + options_.listen);
  }
  for (const int fd : {listener_, stop_event_}) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) return fail_errno("epoll_ctl");
  }
  return ntohs(address.sin_port);
}

void FloorRelay::stop() noexcept {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(stop_event_, &one, sizeof(one));
}

void FloorRelay::run() {
  TAUT_ASSERT(listener_ >= 0);
  std::array<epoll_event, kEventsPerWait> events;
  const int timeout_ms = options_.kind == FloorKind::spin ? 0 : -1;
  while (!stopping_) {
    const int ready = ::epoll_wait(epoll_, events.data(), kEventsPerWait, timeout_ms);
    for (int i = 0; i < ready; ++i) {
      const int fd = events[i].data.fd;
      if (fd == listener_) {
        accept_all();
      } else if (fd == stop_event_) {
        stopping_ = true;
      } else if (Peer* peer = peers_[fd].get()) {  // none: closed earlier in this batch
        on_ready(*peer, events[i].events);
      }
    }
  }
}

void FloorRelay::accept_all() {
  while (true) {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    const int on = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (peers_.size() <= static_cast<size_t>(fd)) peers_.resize(static_cast<size_t>(fd) + 1);
    peers_[fd] = std::make_unique<Peer>();
    peers_[fd]->fd = fd;
    peers_[fd]->watched = EPOLLIN;
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) close(*peers_[fd]);
  }
}

void FloorRelay::on_ready(Peer& peer, uint32_t events) {
  bool alive = true;
  if ((events & EPOLLOUT) != 0) alive = flush(peer);
  if (alive && (events & ~uint32_t{EPOLLOUT}) != 0) {
    alive = peer.receiver != nullptr ? relay(peer) : greet(peer);
  }
  if (!alive) close(peer);
}

bool FloorRelay::greet(Peer& peer) {
  std::array<char, kFloorLineBytesMax> buffer;
  const ssize_t n = ::recv(peer.fd, buffer.data(), buffer.size(), 0);
  if (n < 0) return errno == EAGAIN;
  if (n == 0 || peer.is_receiver) return false;  // a receiver says nothing after its line
  peer.line.append(buffer.data(), static_cast<size_t>(n));
  if (!peer.line.ends_with('\n')) return peer.line.size() < kFloorLineBytesMax;
  if (!join(peer, peer.line)) return false;
  return send(peer, options_.ack ? kRelayAcks : kRelayOk);
}

bool FloorRelay::join(Peer& peer, std::string_view line) {
  constexpr std::string_view kWord = "pair ";
  if (!line.starts_with(kWord)) return false;
  line.remove_prefix(kWord.size());
  const auto [stopped, error] = std::from_chars(line.data(), line.data() + line.size(), peer.pair);
  if (error != std::errc{}) return false;
  line.remove_prefix(static_cast<size_t>(stopped - line.data()));
  if (line == " recv\n") {
    peer.is_receiver = receivers_.emplace(peer.pair, &peer).second;
    return peer.is_receiver;
  }
  const auto receiver = receivers_.find(peer.pair);
  if (line != " send\n" || receiver == receivers_.end() || receiver->second->sender != nullptr) return false;
  peer.receiver = receiver->second;
  peer.receiver->sender = &peer;
  return true;
}

bool FloorRelay::relay(Peer& sender) {
  const ssize_t n = ::recv(sender.fd, scratch_.data(), scratch_.size(), 0);
  if (n < 0) return errno == EAGAIN;
  if (n == 0) return false;
  const std::string_view received(scratch_.data(), static_cast<size_t>(n));
  if (!send(*sender.receiver, received)) return false;
  return !options_.ack || acknowledge(sender, received);
}

bool FloorRelay::acknowledge(Peer& sender, std::string_view received) {
  size_t messages = 0;
  while (!received.empty()) {
    if (sender.body_left == 0) {
      const size_t missing = std::min<size_t>(kRelayHeaderBytes - sender.header_bytes, received.size());
      std::memcpy(sender.header.data() + sender.header_bytes, received.data(), missing);
      sender.header_bytes += static_cast<uint32_t>(missing);
      received.remove_prefix(missing);
      if (sender.header_bytes < kRelayHeaderBytes) break;
      std::memcpy(&sender.body_left, sender.header.data(), sizeof(sender.body_left));
      sender.header_bytes = 0;
      if (sender.body_left == 0) return false;
    }
    const auto part = static_cast<uint32_t>(std::min<size_t>(sender.body_left, received.size()));
    sender.body_left -= part;
    received.remove_prefix(part);
    messages += sender.body_left == 0;
  }
  for (; messages > 0; messages -= std::min(messages, kAcksPerSend)) {
    if (!send(sender, {acks_.data(), std::min(messages, kAcksPerSend) * kRelayAckBytes})) return false;
  }
  return true;
}

bool FloorRelay::send(Peer& to, std::string_view bytes) {
  if (to.unsent.empty()) {
    const ssize_t n = ::send(to.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) return false;
    bytes.remove_prefix(static_cast<size_t>(std::max<ssize_t>(n, 0)));
    if (bytes.empty()) return true;
  }
  to.unsent += bytes;
  watch(to);
  if (to.sender != nullptr) watch(*to.sender);
  return true;
}

bool FloorRelay::flush(Peer& peer) {
  const ssize_t n = ::send(peer.fd, peer.unsent.data(), peer.unsent.size(), MSG_NOSIGNAL);
  if (n < 0) return errno == EAGAIN;
  peer.unsent.erase(0, static_cast<size_t>(n));
  watch(peer);
  if (peer.sender != nullptr) watch(*peer.sender);
  return true;
}

void FloorRelay::watch(Peer& peer) {
  const bool blocked = !peer.unsent.empty() || (peer.receiver != nullptr && !peer.receiver->unsent.empty());
  const uint32_t wanted =
      (blocked ? 0U : uint32_t{EPOLLIN}) | (peer.unsent.empty() ? 0U : uint32_t{EPOLLOUT});
  if (wanted == peer.watched) return;
  peer.watched = wanted;
  epoll_event event{.events = wanted, .data = {.fd = peer.fd}};
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, peer.fd, &event);
}

// A pair lives and dies together: neither end has anything left to say to the other.
void FloorRelay::close(Peer& peer) {
  Peer* const other = peer.receiver != nullptr ? peer.receiver : peer.sender;
  for (Peer* end : {&peer, other}) {
    if (end == nullptr) continue;
    if (end->is_receiver) receivers_.erase(end->pair);
    const int fd = end->fd;
    ::close(fd);
    peers_[fd].reset();
  }
}

}  // namespace taut::load
