// The kernel's epoll behind the Poller interface, with an eventfd inside for wakes from other threads.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "base/assert.h"
#include "base/spin_locks_held.h"
#include "core/poller.h"

namespace taut {
namespace {

constexpr uint64_t kWakeToken = UINT64_MAX;
constexpr size_t kEventsMax = 256;

uint32_t epoll_bits(Interest interest) {
  uint32_t bits = 0;
  if (interest == Interest::read || interest == Interest::read_write) bits |= EPOLLIN | EPOLLRDHUP;
  if (interest == Interest::write || interest == Interest::read_write) bits |= EPOLLOUT;
  return bits;
}

class EpollPoller final : public Poller {
 public:
  EpollPoller(int epoll_fd, int wake_fd) : epoll_fd_(epoll_fd), wake_fd_(wake_fd) {}
  ~EpollPoller() override {
    close(wake_fd_);
    close(epoll_fd_);
  }

  Status add(int fd, Interest interest, uint64_t token, bool exclusive) override {
    TAUT_ASSERT(token != kWakeToken);
    epoll_event event{};
    // A listener has no peer that hangs up, and the kernel refuses the two together.
    event.events = exclusive ? (EPOLLIN | EPOLLEXCLUSIVE) : epoll_bits(interest);
    event.data.u64 = token;
    if (epoll_ctl(epoll_fd_, EPOLL_CTL_ADD, fd, &event) == 0) return {};
    return fail_errno("cannot watch descriptor " + std::to_string(fd));
  }

  void modify(int fd, Interest interest, uint64_t token) override {
    epoll_event event{};
    event.events = epoll_bits(interest);
    event.data.u64 = token;
    TAUT_ASSERT(epoll_ctl(epoll_fd_, EPOLL_CTL_MOD, fd, &event) == 0);
  }

  void remove(int fd) override { TAUT_ASSERT(epoll_ctl(epoll_fd_, EPOLL_CTL_DEL, fd, nullptr) == 0); }

  uint32_t wait(std::span<PollEvent> out, int64_t timeout_ns) override {
    const int max = static_cast<int>(std::min(out.size(), kEventsMax));
    TAUT_ASSERT(max > 0);
    const int ready = wait_kernel(max, timeout_ns);
    uint32_t count = 0;
    for (int i = 0; i < ready; ++i) {
      const epoll_event& event = raw_[static_cast<size_t>(i)];
      if (event.data.u64 == kWakeToken) continue;  // edge-triggered: nothing to clear
      const bool broken = (event.events & (EPOLLERR | EPOLLHUP)) != 0;
      out[count++] = {.token = event.data.u64,
                      .readable = broken || (event.events & EPOLLIN) != 0,
                      .writable = broken || (event.events & EPOLLOUT) != 0,
                      .hung_up = broken || (event.events & EPOLLRDHUP) != 0};
    }
    return count;
  }

  void wake() noexcept override {
    assert_no_spin_lock_held();
    const uint64_t one = 1;
    // Can only fail when 2^64 - 2 wakes were never read; the edge is there all the same.
    static_cast<void>(!write(wake_fd_, &one, sizeof(one)));
  }

 private:
  int wait_kernel(int max, int64_t timeout_ns) {
    assert_no_spin_lock_held();
    constexpr int64_t kNsPerS = 1'000'000'000;
    constexpr int64_t kNsPerMs = 1'000'000;
    int ready = 0;
    if (timeout_ns == 0) {
      ready = epoll_wait(epoll_fd_, raw_.data(), max, 0);
    } else if (has_pwait2_) {
      const timespec timeout{.tv_sec = timeout_ns / kNsPerS, .tv_nsec = timeout_ns % kNsPerS};
      ready = epoll_pwait2(epoll_fd_, raw_.data(), max, timeout_ns < 0 ? nullptr : &timeout, nullptr);
      if (ready < 0 && errno == ENOSYS) {  // before Linux 5.11, and some sandboxes
        has_pwait2_ = false;
        return wait_kernel(max, timeout_ns);
      }
    } else {
      const int64_t timeout_ms = std::min<int64_t>((timeout_ns + kNsPerMs - 1) / kNsPerMs, INT32_MAX);
      ready = epoll_wait(epoll_fd_, raw_.data(), max, timeout_ns < 0 ? -1 : static_cast<int>(timeout_ms));
    }
    TAUT_ASSERT(ready >= 0 || errno == EINTR);
    return std::max(ready, 0);
  }

  const int epoll_fd_;
  const int wake_fd_;
  bool has_pwait2_ = true;
  std::array<epoll_event, kEventsMax> raw_;
};

}  // namespace

Result<std::unique_ptr<Poller>> make_epoll_poller() {
  const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  if (epoll_fd < 0) return fail_errno("cannot make an epoll instance");
  const int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0) {
    auto error = fail_errno("cannot make an eventfd");
    close(epoll_fd);
    return error;
  }
  auto poller = std::make_unique<EpollPoller>(epoll_fd, wake_fd);
  epoll_event event{};
  // Edge-triggered: every write is a new edge, so the counter is never read and a wake costs one system call
  // less.
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = kWakeToken;
  if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &event) != 0) return fail_errno("cannot watch an eventfd");
  return poller;
}

}  // namespace taut
