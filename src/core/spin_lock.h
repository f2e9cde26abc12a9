// A lock for a few instructions between running threads: who waits for it spins.
#pragma once

#include <atomic>

#include "base/spin_locks_held.h"
#include "core/spin_wait.h"

namespace taut {

/// Test and test-and-set: waiters read the line that they share and write only when it looks free, so the
/// holder's release is not held up by them. Between looks they climb SpinWait's ladder; after its last rung
/// they yield, because the holder may need their very processor. Not fair, not recursive.
///
/// A thread that holds one must not wait for anything, another spin lock included: so spin locks cannot
/// deadlock, and nobody spins for somebody who sleeps. Debug builds abort at every such place
/// (base/spin_locks_held.h). One byte; put it on the line of what it guards. Any thread; shards have no use
/// for it.
class SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  /// REQUIRES: the thread holds no spin lock.
  void lock() noexcept {
    assert_no_spin_lock_held();
    for (SpinWait wait; !try_take(); wait.spin_once()) {
    }
    note_spin_lock_taken();
  }
  /// Never waits, so it may be asked with another one in hand.
  [[nodiscard]] bool try_lock() noexcept {
    if (!try_take()) return false;
    note_spin_lock_taken();
    return true;
  }
  /// REQUIRES: this thread holds it.
  void unlock() noexcept {
    note_spin_lock_released();
    // Pairs with the acquire in try_take(): what the holder wrote is seen by the next one.
    held_.store(false, std::memory_order_release);
  }

  /// Holds the lock from here to the end of the scope.
  class [[nodiscard]] Guard {
   public:
    explicit Guard(SpinLock& lock) noexcept : lock_(lock) { lock_.lock(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { lock_.unlock(); }

   private:
    SpinLock& lock_;
  };

 private:
  [[nodiscard]] bool try_take() noexcept {
    // Relaxed: only a hint that the exchange may succeed. The acquire pairs with the release in unlock().
    return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
  }

  std::atomic<bool> held_{false};
};

}  // namespace taut
