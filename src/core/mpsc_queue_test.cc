#include "core/mpsc_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "core/allocation_counter.h"
#include "core/doorbell.h"

namespace taut {
namespace {

/// Every sequence of pushes and pops of a length, one bit each, against a plain queue.
TEST(MpscQueue, DoesWhatAQueueDoesInEverySequenceOfFourteenSteps) {
  constexpr uint32_t kSteps = 14;
  for (const uint32_t capacity : {2U, 4U}) {
    for (uint32_t sequence = 0; sequence < (1U << kSteps); ++sequence) {
      MpscQueue<uint32_t> queue(capacity);
      std::deque<uint32_t> model;
      for (uint32_t step = 0; step < kSteps; ++step) {
        ASSERT_EQ(queue.empty(), model.empty()) << sequence;
        if ((sequence >> step & 1U) != 0) {
          const bool room = model.size() < capacity;
          ASSERT_EQ(queue.try_push(step), room) << sequence << ", step " << step;
          if (room) model.push_back(step);
        } else {
          uint32_t value = UINT32_MAX;
          ASSERT_EQ(queue.try_pop(value), !model.empty()) << sequence << ", step " << step;
          ASSERT_EQ(value, model.empty() ? UINT32_MAX : model.front()) << sequence << ", step " << step;
          if (!model.empty()) model.pop_front();
        }
      }
    }
  }
}

TEST(MpscQueueDeathTest, RefusesACapacityThatIsNoPowerOfTwoOrOne) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(MpscQueue<uint64_t>(6), "has_single_bit");
  EXPECT_DEATH(MpscQueue<uint64_t>(1), "capacity >= 2");
}

TEST(MpscQueue, AllocatesNothingAfterConstruction) {
  if (!allocation_counter_available()) GTEST_SKIP() << "the sanitizer owns malloc";
  MpscQueue<uint64_t> queue(8);
  const uint64_t before = allocations_this_thread();
  for (uint64_t i = 0; i < 1'000; ++i) {
    uint64_t value = 0;
    ASSERT_TRUE(queue.try_push(i));
    ASSERT_TRUE(queue.try_pop(value));
  }
  EXPECT_EQ(allocations_this_thread(), before);
}

struct Numbered {
  uint64_t producer = 0;
  std::array<uint64_t, 6> numbers{};  ///< all the same, so that a torn element shows
};

constexpr uint64_t kProducers = 4;

/// What the consumer has seen so far: each producer's elements in their order, each whole.
class Seen {
 public:
  void take(const Numbered& element) {
    ASSERT_LT(element.producer, kProducers);
    for (const uint64_t number : element.numbers) ASSERT_EQ(number, next_[element.producer]);
    ++next_[element.producer];
    ++total_;
  }
  [[nodiscard]] uint64_t total() const { return total_; }

 private:
  std::array<uint64_t, kProducers> next_{};
  uint64_t total_ = 0;
};

template <class After>
std::vector<std::thread> start_producers(MpscQueue<Numbered>& queue, uint64_t count, After after) {
  std::vector<std::thread> threads;
  threads.reserve(kProducers);
  for (uint64_t producer = 0; producer < kProducers; ++producer) {
    threads.emplace_back([&queue, producer, count, after] {
      for (uint64_t i = 0; i < count; ++i) {
        Numbered element{.producer = producer};
        element.numbers.fill(i);
        while (!queue.try_push(element)) std::this_thread::yield();
        after();
      }
    });
  }
  return threads;
}

class MpscQueueStress : public testing::TestWithParam<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Capacity, MpscQueueStress, testing::Values(2U, 16U, 256U));

TEST_P(MpscQueueStress, LosesTearsAndReordersNothingOfFourProducers) {
  constexpr uint64_t kCount = 20'000;
  MpscQueue<Numbered> queue(GetParam());
  std::vector<std::thread> producers = start_producers(queue, kCount, [] {});
  Seen seen;
  while (seen.total() < kProducers * kCount && !HasFailure()) {
    Numbered element;
    if (queue.try_pop(element)) {
      seen.take(element);
    } else {
      std::this_thread::yield();
    }
  }
  for (std::thread& thread : producers) thread.join();
  EXPECT_TRUE(queue.empty());
}

TEST_P(MpscQueueStress, WakesAConsumerThatParksWheneverItFindsNothing) {
  constexpr uint64_t kCount = 2'000;
  constexpr int64_t kLostAfterNs = 10'000'000'000;
  MpscQueue<Numbered> queue(GetParam());
  const std::unique_ptr<Poller> poller = std::move(*make_epoll_poller());
  Doorbell bell;
  bell.attach(*poller);
  std::vector<std::thread> producers = start_producers(queue, kCount, [&bell] {
    publish_fence();
    bell.ring();
  });
  Seen seen;
  std::array<PollEvent, 1> none;
  while (seen.total() < kProducers * kCount && !HasFailure()) {
    Numbered element;
    if (queue.try_pop(element)) {
      seen.take(element);
      continue;
    }
    bell.announce_park();
    if (queue.empty()) {
      const auto before = std::chrono::steady_clock::now();
      static_cast<void>(poller->wait(none, kLostAfterNs));
      EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::nanoseconds(kLostAfterNs));
    }
    bell.announce_running();
  }
  for (std::thread& thread : producers) thread.join();
}

}  // namespace
}  // namespace taut
