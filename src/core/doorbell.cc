#include "core/doorbell.h"

#include "core/cycle_clock.h"

namespace taut {

void Doorbell::announce_park() noexcept {
  if constexpr (kFencesAreModelled) {
    state_.store(kParked, std::memory_order_relaxed);
    // Pairs with publish_fence(): either the publisher's load in ring() sees PARKED, or our re-check sees its
    // tail.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  } else {
    state_.exchange(kParked, std::memory_order_seq_cst);  // pairs with the fetch_add in ring()
  }
}

bool Doorbell::ring() noexcept {
  const uint32_t seen = kFencesAreModelled
                            ? state_.load(std::memory_order_relaxed)           // ordered by publish_fence()
                            : state_.fetch_add(0, std::memory_order_seq_cst);  // pairs with announce_park()
  if (seen != kParked) return false;
  // Relaxed: the exchange only elects one waker among several; the work itself is ordered by the rings'
  // indices.
  if (state_.exchange(kNotified, std::memory_order_relaxed) != kParked) return false;
  rung_at_ns_.store(CycleClock::machine().now_ns(),
                    std::memory_order_relaxed);  // a metric: pairs with nothing
  poller_->wake();
  return true;
}

}  // namespace taut
