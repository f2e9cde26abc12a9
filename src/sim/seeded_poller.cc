#include "sim/seeded_poller.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace taut::sim {

namespace {

std::unique_ptr<Poller> make_inner() {
  auto poller = make_epoll_poller();
  if (!poller) end_process("the simulator: " + poller.error().message);
  return std::move(*poller);
}

}  // namespace

SeededPoller::SeededPoller(uint64_t seed) : inner_(make_inner()), dice_(seed) {}

Status SeededPoller::add(int fd, Interest interest, uint64_t token, bool exclusive) {
  if (!exclusive) ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendBytes, sizeof(kSendBytes));
  return inner_->add(fd, interest, token, exclusive);
}

uint32_t SeededPoller::wait(std::span<PollEvent> out, int64_t /*timeout_ns*/) {
  const uint32_t ready = inner_->wait(out, 0);
  // The kernel's order is not promised; from a sorted one the seed's follows.
  std::sort(out.begin(), out.begin() + ready,
            [](const PollEvent& a, const PollEvent& b) { return a.token < b.token; });
  for (uint32_t left = ready; left > 1; --left) std::swap(out[left - 1], out[dice_.below(left)]);
  return ready;
}

}  // namespace taut::sim
