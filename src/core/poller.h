// Readiness of descriptors as a dependency: epoll in production, a script in the simulator.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"

namespace taut {

/// What a descriptor is watched for.
enum class Interest : uint8_t { none = 0, read = 1, write = 2, read_write = 3 };

/// One ready descriptor: the token it was registered with, and what is ready. Hang-ups and errors show as
/// readable and writable, so that the next call on the descriptor reports them.
struct PollEvent {
  uint64_t token = 0;
  bool readable = false;
  bool writable = false;
  bool hung_up = false;  ///< the peer sends nothing more; only seen with Interest::read
};

/// Watches descriptors, level-triggered; one per shard. Everything but wake() belongs to the owner thread.
class Poller {
 public:
  Poller() = default;
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;
  virtual ~Poller() = default;

  /// Registers a descriptor once; all tokens but UINT64_MAX are free; `exclusive` wakes only one of several
  /// pollers that share it (listeners).
  [[nodiscard]] virtual Status add(int fd, Interest interest, uint64_t token, bool exclusive = false) = 0;
  /// Changes the interest of a registered descriptor (one system call; used only when blocked or paused).
  /// REQUIRES: not added as exclusive (the kernel refuses; remove it and add it again).
  virtual void modify(int fd, Interest interest, uint64_t token) = 0;
  /// Forgets a descriptor; events already handed out may still carry its token.
  virtual void remove(int fd) = 0;

  /// Fills `out` with what is ready and returns how many. timeout_ns: 0 looks and returns, < 0 waits for
  /// ever. Returns early, perhaps with 0 events, after wake(); consumes that wake.
  [[nodiscard]] virtual uint32_t wait(std::span<PollEvent> out, int64_t timeout_ns) = 0;

  /// Makes a current or the next wait() return. Any thread; one system call.
  virtual void wake() noexcept = 0;
};

/// An epoll instance with an eventfd inside. Error: the process is out of descriptors.
[[nodiscard]] Result<std::unique_ptr<Poller>> make_epoll_poller();

}  // namespace taut
