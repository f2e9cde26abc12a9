#include "chat/chunked_ring.h"

#include <gtest/gtest.h>

#include <deque>

#include "chat/counting_resource.h"

namespace taut::chat {
namespace {

using Ring = ChunkedRing<uint64_t, 5000>;

TEST(ChunkedRing, HoldsTheLastLimitElementsInOrderAtEverySize) {
  CountingResource memory;
  for (const uint32_t limit : {1U, 15U, 16U, 17U, 1000U, 1024U, 1025U, 2500U, 5000U}) {
    Ring ring(limit, memory);
    std::deque<uint64_t> model;
    for (uint64_t v = 0; v < 3 * limit + 7; ++v) {
      ring.push(v);
      model.push_back(v);
      if (model.size() > limit) model.pop_front();
      ASSERT_EQ(ring.size(), model.size());
      ASSERT_EQ(ring[0], model.front());
      ASSERT_EQ(ring[ring.size() / 2], model[model.size() / 2]);
      ASSERT_EQ(ring[ring.size() - 1], model.back());
    }
    for (uint32_t i = 0; i < limit; ++i) ASSERT_EQ(ring[i], model[i]);
  }
  EXPECT_EQ(memory.bytes_in_use(), 0U);
}

TEST(ChunkedRing, SlotsNameElementsUntilTheyAreOverwritten) {
  CountingResource memory;
  Ring ring(3000, memory);
  for (uint64_t v = 0; v < 10'000; ++v) {
    const uint32_t slot = ring.push(v);
    ASSERT_EQ(slot, v % 3000);
    ASSERT_EQ(ring.at_slot(slot), v);
    ASSERT_EQ(ring.slot_of(ring.size() - 1), slot);
  }
}

TEST(ChunkedRing, CostsNothingWhileEmptyAndLittleWhileShort) {
  CountingResource memory;
  Ring ring(5000, memory);
  EXPECT_EQ(memory.bytes_in_use(), 0U);
  ring.push(1);
  EXPECT_EQ(memory.bytes_in_use(), Ring::kFirstElements * sizeof(uint64_t));
}

TEST(ChunkedRing, AllocatesNothingOnceFullAndNeverMoreThanAChunkAtOnce) {
  CountingResource memory;
  ChunkedRing<std::array<uint64_t, 8>, 4096> ring(4096, memory);
  for (uint32_t i = 0; i < 4096; ++i) ring.push({i});
  const uint64_t allocations = memory.allocations();
  for (uint32_t i = 0; i < 10'000; ++i) ring.push({i});
  EXPECT_EQ(memory.allocations(), allocations);
  EXPECT_EQ(memory.largest(), kChunkBytesMax);
}

TEST(ChunkedRing, ReleaseGivesAllMemoryBackAndStartsAnew) {
  CountingResource memory;
  Ring ring(2000, memory);
  for (uint64_t v = 0; v < 3000; ++v) ring.push(v);
  ring.release();
  EXPECT_EQ(memory.bytes_in_use(), 0U);
  ring.push(7);
  EXPECT_EQ(ring.size(), 1U);
  EXPECT_EQ(ring[0], 7U);
}

}  // namespace
}  // namespace taut::chat
