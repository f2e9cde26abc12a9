// How many spin locks the calling thread holds, so that debug builds can refuse to wait with one in hand.
#pragma once

#include <cstdint>

#include "base/assert.h"

namespace taut {

#ifdef TAUT_DEBUG
namespace internal {
inline thread_local uint32_t spin_locks_held = 0;
}  // namespace internal
#endif

/// SpinLock says it here; nobody else.
inline void note_spin_lock_taken() noexcept {
#ifdef TAUT_DEBUG
  ++internal::spin_locks_held;
#endif
}
inline void note_spin_lock_released() noexcept {
#ifdef TAUT_DEBUG
  TAUT_ASSERT(internal::spin_locks_held > 0 && "a spin lock is released by the thread that took it");
  --internal::spin_locks_held;
#endif
}

/// Stands in front of every call that may wait or give the processor away (read, write, sync, epoll, yield,
/// sleep, join): whoever does that with a spin lock in hand lets others burn their cores until it runs again.
/// Aborts in debug builds, nothing in release.
inline void assert_no_spin_lock_held() noexcept {
#ifdef TAUT_DEBUG
  TAUT_ASSERT(internal::spin_locks_held == 0 && "waits with a spin lock in hand");
#endif
}

}  // namespace taut
