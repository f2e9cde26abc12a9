// A bounded ring from one producer thread to one consumer thread.
//
// Both ends keep a cached copy of the other's index beside their own, so that the common push and pop touch
// no line that the other side writes: the producer looks at the consumer's index only when the ring seems
// full, the consumer at the producer's only when it seems empty. Indices run freely (64 bits never wrap in
// practice) and are masked on use, so full and empty need no wasted slot and no division. The slots stand in
// memory of their own.
//
// A producer that fills several slots in one go uses push_unpublished() and one publish(): the consumer's
// line is then disturbed once per batch instead of once per element. A consumer reads in place with front()
// and consume().
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "base/assert.h"
#include "core/no_views.h"

namespace taut {

/// Two lines, not one: the adjacent-line prefetcher of x86 fetches them in pairs.
inline constexpr size_t kApartBytes = 128;
/// What moves between cores at once.
inline constexpr size_t kLineBytes = 64;

/// One thread pushes, one thread pops; the two may be the same. Owns its slots; never allocates after
/// construction.
template <RingElement T>
class SpscRing {
 public:
  /// Most elements that pop_batch() and front() hand out at once.
  static constexpr uint32_t kBatchMax = 32;

  /// REQUIRES: capacity is a power of two, at least 2. All slots are written here, so no page faults later.
  explicit SpscRing(uint32_t capacity) : mask_(capacity - 1), slots_(make_slots(capacity)) {
    TAUT_ASSERT(capacity >= 2 && std::has_single_bit(capacity));
  }
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  [[nodiscard]] uint32_t capacity() const { return static_cast<uint32_t>(mask_ + 1); }

  // -- producer --

  /// False when full. Everything pushed earlier becomes visible as well.
  [[nodiscard]] bool try_push(const T& value) {
    if (!push_unpublished(value)) return false;
    publish();
    return true;
  }

  /// Fills the next slot without telling the consumer; false when full. Call publish() afterwards.
  [[nodiscard]] bool push_unpublished(const T& value) {
    const uint64_t tail = producer_.tail;
    if (tail - producer_.head_cached > mask_) [[unlikely]] {
      // Pairs with the release store in consume(): a slot is ours again only after its reader has left it.
      producer_.head_cached = head_.load(std::memory_order_acquire);
      if (tail - producer_.head_cached > mask_) return false;
    }
    slots_[tail & mask_] = value;
    producer_.tail = tail + 1;
    return true;
  }

  /// Makes all pushed elements visible to the consumer. Costs one store, whatever the number.
  void publish() {
    // Pairs with the acquire loads in available() and empty(): the slots are written before the index says
    // so.
    tail_.store(producer_.tail, std::memory_order_release);
  }

  // -- consumer --

  /// False when empty.
  [[nodiscard]] bool try_pop(T& out) {
    if (available(1) == 0) return false;
    out = slots_[consumer_.head & mask_];
    consume(1);
    return true;
  }

  /// Moves up to min(out.size(), kBatchMax) elements out and returns how many.
  [[nodiscard]] uint32_t pop_batch(std::span<T> out);

  /// The oldest element, or nullptr when empty; stays valid until consume().
  [[nodiscard]] const T* peek() { return available(1) == 0 ? nullptr : &slots_[consumer_.head & mask_]; }

  /// The oldest elements that lie together in memory, up to kBatchMax, read in place; valid until consume().
  /// Empty only when the ring is empty; shorter than what is there where the ring wraps.
  [[nodiscard]] std::span<const T> front();

  /// Gives `count` slots back to the producer. REQUIRES: at most as many as peek() or front() showed.
  void consume(uint32_t count) {
    consumer_.head += count;
    // Pairs with the acquire load in push_unpublished().
    head_.store(consumer_.head, std::memory_order_release);
  }

  /// True when nothing is published. Always looks at the producer's line: this is the re-check before
  /// parking. Pairs with the release in publish().
  [[nodiscard]] bool empty() const { return tail_.load(std::memory_order_acquire) == consumer_.head; }

  // -- any thread --

  /// Published and not yet consumed, as of some recent moment; for metrics.
  [[nodiscard]] uint32_t size_approx() const {
    const uint64_t head = head_.load(std::memory_order_relaxed);  // a metric: pairs with nothing
    const uint64_t tail = tail_.load(std::memory_order_relaxed);  // a metric: pairs with nothing
    return tail > head ? static_cast<uint32_t>(tail - head) : 0;
  }

 private:
  /// How many elements this side knows of; looks at the producer's line only when that is fewer than wanted.
  [[nodiscard]] uint64_t available(uint64_t wanted) {
    if (consumer_.tail_cached - consumer_.head < wanted) {
      // Pairs with the release store in publish().
      consumer_.tail_cached = tail_.load(std::memory_order_acquire);
      // While it waits, the next slot travels beside the index and not after it. Smaller elements share a
      // line with those that the producer is about to write: there it would take the line from under the
      // producer.
      if constexpr (sizeof(T) >= kLineBytes) {
        if (consumer_.tail_cached == consumer_.head) __builtin_prefetch(&slots_[consumer_.head & mask_]);
      }
    }
    return consumer_.tail_cached - consumer_.head;
  }

  struct Producer {
    uint64_t tail = 0;         ///< next slot to fill, published or not
    uint64_t head_cached = 0;  ///< head_ as last seen
  };
  struct Consumer {
    uint64_t head = 0;         ///< next slot to read
    uint64_t tail_cached = 0;  ///< tail_ as last seen
  };

  /// On a line of their own and aligned to it: an element of a line's size lies on one line, not two.
  struct FreeSlots {
    void operator()(T* slots) const { ::operator delete(slots, std::align_val_t{kApartBytes}); }
  };
  static T* make_slots(uint32_t capacity) {
    T* const slots = static_cast<T*>(::operator new(capacity * sizeof(T), std::align_val_t{kApartBytes}));
    std::uninitialized_value_construct_n(slots, capacity);
    return slots;
  }

  // constant after construction
  const uint64_t mask_;
  const std::unique_ptr<T[], FreeSlots> slots_;
  // Private copies stand apart from the published indices, so that they stay in their owner's first-level
  // cache.
  alignas(kApartBytes) Producer producer_;              // producer only
  alignas(kApartBytes) std::atomic<uint64_t> tail_{0};  // written by the producer
  alignas(kApartBytes) Consumer consumer_;              // consumer only
  alignas(kApartBytes) std::atomic<uint64_t> head_{0};  // written by the consumer
};

template <RingElement T>
uint32_t SpscRing<T>::pop_batch(std::span<T> out) {
  const uint64_t wanted = std::min<uint64_t>(out.size(), kBatchMax);
  const auto count = static_cast<uint32_t>(std::min(available(wanted), wanted));
  if (count == 0) return 0;
  for (uint32_t i = 0; i < count; ++i) out[i] = slots_[(consumer_.head + i) & mask_];
  consume(count);
  return count;
}

template <RingElement T>
std::span<const T> SpscRing<T>::front() {
  const uint64_t first = consumer_.head & mask_;
  const uint64_t until_wrap = mask_ + 1 - first;
  return {&slots_[first], std::min({available(kBatchMax), until_wrap, uint64_t{kBatchMax}})};
}

}  // namespace taut
