#include "core/spsc_ring.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>

namespace taut {
namespace {

TEST(SpscRing, GivesBackWhatWasPushedInOrder) {
  SpscRing<uint64_t> ring(4);
  ASSERT_TRUE(ring.try_push(1));
  ASSERT_TRUE(ring.try_push(2));
  uint64_t value = 0;
  ASSERT_TRUE(ring.try_pop(value));
  EXPECT_EQ(value, 1U);
  ASSERT_TRUE(ring.try_pop(value));
  EXPECT_EQ(value, 2U);
}

TEST(SpscRing, RejectsPushWhenFullAndUsesEverySlot) {
  SpscRing<uint64_t> ring(4);
  for (uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(ring.try_push(i));
  EXPECT_FALSE(ring.try_push(4));
  EXPECT_EQ(ring.size_approx(), 4U);
}

TEST(SpscRing, RejectsPopWhenEmpty) {
  SpscRing<uint64_t> ring(2);
  uint64_t value = 7;
  EXPECT_FALSE(ring.try_pop(value));
  EXPECT_EQ(value, 7U);
  EXPECT_EQ(ring.peek(), nullptr);
  EXPECT_TRUE(ring.front().empty());
}

TEST(SpscRing, TakesOnePushForEachPopOnceFull) {
  SpscRing<uint64_t> ring(2);
  ASSERT_TRUE(ring.try_push(0));
  ASSERT_TRUE(ring.try_push(1));
  for (uint64_t i = 2; i < 100; ++i) {
    uint64_t value = 0;
    ASSERT_FALSE(ring.try_push(i));
    ASSERT_TRUE(ring.try_pop(value));
    ASSERT_EQ(value, i - 2);
    ASSERT_TRUE(ring.try_push(i));
  }
}

TEST(SpscRing, HidesUnpublishedElements) {
  SpscRing<uint64_t> ring(4);
  uint64_t value = 0;
  ASSERT_TRUE(ring.push_unpublished(1));
  ASSERT_TRUE(ring.push_unpublished(2));
  EXPECT_TRUE(ring.empty());
  EXPECT_FALSE(ring.try_pop(value));
  ring.publish();
  EXPECT_FALSE(ring.empty());
  EXPECT_TRUE(ring.try_pop(value));
  EXPECT_EQ(value, 1U);
}

TEST(SpscRing, CountsUnpublishedElementsAsTaken) {
  SpscRing<uint64_t> ring(2);
  ASSERT_TRUE(ring.push_unpublished(1));
  ASSERT_TRUE(ring.push_unpublished(2));
  EXPECT_FALSE(ring.push_unpublished(3));
}

TEST(SpscRing, PeekShowsTheOldestWithoutTakingIt) {
  SpscRing<uint64_t> ring(4);
  ASSERT_TRUE(ring.try_push(5));
  ASSERT_NE(ring.peek(), nullptr);
  EXPECT_EQ(*ring.peek(), 5U);
  EXPECT_EQ(ring.size_approx(), 1U);
}

TEST(SpscRing, FrontIsBoundedByTheBatchAndByTheWrap) {
  SpscRing<uint64_t> ring(64);
  for (uint64_t i = 0; i < 64; ++i) ASSERT_TRUE(ring.try_push(i));
  ASSERT_EQ(ring.front().size(), SpscRing<uint64_t>::kBatchMax);
  EXPECT_EQ(ring.front()[31], 31U);
  ring.consume(50);
  for (uint64_t i = 64; i < 70; ++i) ASSERT_TRUE(ring.try_push(i));
  ASSERT_EQ(ring.front().size(), 14U);  // 50 … 63, then the memory ends
  ring.consume(14);
  ASSERT_EQ(ring.front().size(), 6U);
  EXPECT_EQ(ring.front()[0], 64U);
}

TEST(SpscRing, PopBatchCrossesTheWrapAndStopsAtTheSpan) {
  SpscRing<uint64_t> ring(8);
  std::array<uint64_t, 5> out{};
  for (uint64_t i = 0; i < 6; ++i) ASSERT_TRUE(ring.try_push(i));
  ASSERT_EQ(ring.pop_batch(out), 5U);
  for (uint64_t i = 6; i < 12; ++i) ASSERT_TRUE(ring.try_push(i));
  ASSERT_EQ(ring.pop_batch(out), 5U);
  for (uint64_t i = 0; i < 5; ++i) EXPECT_EQ(out[i], 5 + i);
  ASSERT_EQ(ring.pop_batch(out), 2U);
  EXPECT_EQ(ring.pop_batch(out), 0U);
}

TEST(SpscRingDeathTest, RefusesACapacityThatIsNoPowerOfTwo) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(SpscRing<uint64_t>(3), "has_single_bit");
}

struct Wide {
  std::array<uint64_t, 8> words{};
};

/// Every word of an element carries its number, so a slot that is read while it is written shows.
void expect_whole(const Wide& element, uint64_t number) {
  for (const uint64_t word : element.words) ASSERT_EQ(word, number);
}

TEST(SpscRing, LosesAndTearsNothingBetweenTwoThreads) {
  constexpr uint64_t kCount = 200'000;
  SpscRing<Wide> ring(8);
  std::thread producer([&ring] {
    for (uint64_t i = 0; i < kCount;) {
      Wide element;
      element.words.fill(i);
      // Mixes both ways to publish; batches of up to three.
      if (i % 5 == 0 ? ring.try_push(element) : ring.push_unpublished(element)) {
        ++i;
        if (i % 3 == 0 || i == kCount) ring.publish();
      } else {
        ring.publish();
        std::this_thread::yield();
      }
    }
  });
  std::array<Wide, 4> batch;
  for (uint64_t next = 0; next < kCount;) {
    uint32_t count = 0;
    if (next % 2 == 0) {
      count = ring.pop_batch(batch);
      for (uint32_t i = 0; i < count; ++i) expect_whole(batch[i], next + i);
    } else {
      const auto front = ring.front();
      count = static_cast<uint32_t>(front.size());
      for (uint32_t i = 0; i < count; ++i) expect_whole(front[i], next + i);
      ring.consume(count);
    }
    next += count;
    if (count == 0) std::this_thread::yield();
  }
  producer.join();
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace taut
