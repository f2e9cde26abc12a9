// The handshake that lets a thread sleep without ever missing work, and lets the others wake it only when it
// sleeps.
//
// Each side writes, then looks at what the other wrote (Dekker). The publisher stores its ring's tail, then
// looks at `state`; the parker stores PARKED, then looks at every ring. Without a full fence between the two
// steps a store buffer lets both look too early: the publisher sees RUNNING, the parker sees an empty ring
// and sleeps on a message. With both fences at least one sees the other. Several wakers race for one
// exchange, so that one system call is made. ThreadSanitizer does not model fences; there both become
// read-modify-writes, which order the same.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/assert.h"
#include "core/poller.h"
#include "core/spsc_ring.h"

namespace taut {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kFencesAreModelled = false;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kFencesAreModelled = false;
#else
inline constexpr bool kFencesAreModelled = true;
#endif
#else
inline constexpr bool kFencesAreModelled = true;
#endif

/// The fence between publishing (any number of rings) and ringing their readers. Pairs with
/// Doorbell::announce_park.
inline void publish_fence() noexcept {
  if constexpr (kFencesAreModelled) std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// One per thread that parks. The parker is one thread; anybody rings.
class alignas(kApartBytes) Doorbell {
 public:
  Doorbell() = default;
  Doorbell(const Doorbell&) = delete;
  Doorbell& operator=(const Doorbell&) = delete;

  /// Who sleeps here. REQUIRES: before any other thread can ring (rings before that only leave their work).
  void attach(Poller& poller) {
    TAUT_ASSERT(poller_ == nullptr);
    poller_ = &poller;
  }
  void detach() { poller_ = nullptr; }

  // -- parker --

  /// Says that we are about to sleep. Afterwards EVERY source of work must be looked at again; if one has
  /// something, call announce_running() and do it, else wait, then call announce_running() and look at the
  /// rings.
  void announce_park() noexcept;
  void announce_running() noexcept {
    // Relaxed: a waker that still sees PARKED makes one spurious wake; no data hangs on this store.
    state_.store(kRunning, std::memory_order_relaxed);
  }
  /// When the latest wake was sent, by the machine's cycle clock; 0 before the first. For measuring what a
  /// wake costs.
  [[nodiscard]] int64_t rung_at_ns() const noexcept {
    return rung_at_ns_.load(std::memory_order_relaxed);  // a metric: pairs with nothing
  }

  // -- any thread, after its releases and publish_fence() --

  /// Wakes the parker if it sleeps; true if that took the system call.
  bool ring() noexcept;

 private:
  static constexpr uint32_t kRunning = 0;
  static constexpr uint32_t kParked = 1;
  static constexpr uint32_t kNotified = 2;

  // Alone on its line: publishers look here at the end of every turn, and only parking may disturb them.
  std::atomic<uint32_t> state_{kRunning};
  alignas(kApartBytes) std::atomic<int64_t> rung_at_ns_{0};  // written by wakers, read after a wake
  Poller* poller_ = nullptr;                                 // constant while others can ring
};

}  // namespace taut
