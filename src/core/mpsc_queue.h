// A bounded queue from any number of producer threads to one consumer thread.
//
// For threads that are no shard (a store, a committer, a main program) and have something for one. Between
// shards stands an SpscRing for each pair: there no push ever retries.
//
// Each slot carries a sequence number that says whose turn it is (Dmitry Vyukov's bounded queue). The slot at
// index i mod capacity shows i when the producer of the i-th element may fill it, i + 1 when the consumer may
// read it, and i + capacity when it has been read. A producer claims index i by moving `tail_` from i to
// i + 1 with a compare-exchange, fills the slot, and hands it over by one store to its number.
//
// Why there is no ABA: indices and sequence numbers are free-running 64-bit counters that are never set back
// (at 10^9 pushes a second they last 584 years), no pointer is compared, and no slot is freed. If `tail_` is
// still i when a producer that slept for long comes to its compare-exchange, then nobody has claimed i since.
//
// What differs from SpscRing: the index is not cached and pushes are not published in batches, because every
// producer must write the shared index anyway; slots stand on lines of their own, because neighbours are
// filled at the same time by different cores.
//
// A producer that is preempted between claim and hand-over holds back what others have pushed behind it: the
// queue is not lock-free for the consumer, which finds it empty meanwhile. No wake-up is lost by that, as
// long as every producer, after its own try_push(), calls publish_fence() and rings the consumer's Doorbell.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "base/assert.h"
#include "core/no_views.h"
#include "core/spsc_ring.h"

namespace taut {

/// Any thread pushes, one pops. Elements of one producer leave in the order in which they came. Owns its
/// slots; never allocates after construction.
template <RingElement T>
class MpscQueue {
 public:
  /// REQUIRES: capacity is a power of two, at least 2 (with one slot, "filled" and "read" would be the same
  /// number). All slots are written here, so no page faults later.
  explicit MpscQueue(uint32_t capacity) : mask_(capacity - 1), slots_(std::make_unique<Slot[]>(capacity)) {
    TAUT_ASSERT(capacity >= 2 && std::has_single_bit(capacity));
    // Relaxed, without a pair: whoever hands the queue to other threads orders its construction.
    for (uint64_t i = 0; i < capacity; ++i) slots_[i].turn.store(i, std::memory_order_relaxed);
  }
  MpscQueue(const MpscQueue&) = delete;
  MpscQueue& operator=(const MpscQueue&) = delete;

  [[nodiscard]] uint32_t capacity() const { return static_cast<uint32_t>(mask_ + 1); }

  // -- any thread --

  /// False when full. Retries only when another producer got ahead, so some producer always makes progress.
  [[nodiscard]] bool try_push(const T& value) {
    uint64_t index = tail_.load(std::memory_order_relaxed);  // a guess: the compare-exchange below decides
    while (true) {
      Slot& slot = slots_[index & mask_];
      // Pairs with the release in try_pop(): the slot is ours only after its reader has left it.
      const uint64_t turn = slot.turn.load(std::memory_order_acquire);
      if (turn == index) {
        // Relaxed: it only elects one producer; what the slot holds is ordered by its number.
        if (!tail_.compare_exchange_weak(index, index + 1, std::memory_order_relaxed)) continue;
        slot.value = value;
        // Pairs with the acquire in try_pop() and empty(): the value is written before its turn has come.
        slot.turn.store(index + 1, std::memory_order_release);
        return true;
      }
      // Behind: the element of the lap before is still there. Ahead: another producer has claimed this index.
      if (turn < index) return false;
      index = tail_.load(std::memory_order_relaxed);  // as above
    }
  }

  // -- consumer --

  /// False when empty, or while the producer of the oldest element has not finished.
  [[nodiscard]] bool try_pop(T& out) {
    Slot& slot = slots_[head_ & mask_];
    // Pairs with the release in try_push().
    if (slot.turn.load(std::memory_order_acquire) != head_ + 1) return false;
    out = slot.value;
    // Pairs with the acquire in try_push().
    slot.turn.store(head_ + capacity(), std::memory_order_release);
    ++head_;
    return true;
  }

  /// True when try_pop() would find nothing: the re-check before parking.
  [[nodiscard]] bool empty() const {
    // Pairs with the release in try_push().
    return slots_[head_ & mask_].turn.load(std::memory_order_acquire) != head_ + 1;
  }

 private:
  struct alignas(kLineBytes) Slot {
    std::atomic<uint64_t> turn;
    T value{};
  };

  // constant after construction
  const uint64_t mask_;
  const std::unique_ptr<Slot[]> slots_;
  // shared by the producers
  alignas(kApartBytes) std::atomic<uint64_t> tail_{0};  ///< next index to claim
  // consumer only
  alignas(kApartBytes) uint64_t head_ = 0;  ///< next index to read
};

}  // namespace taut
