#include "chat/slab.h"

#include <gtest/gtest.h>

#include "chat/counting_resource.h"

namespace taut::chat {
namespace {

struct Record {
  std::array<uint64_t, 20> value{};
};

TEST(Slab, KeepsAddressesAndReusesNumbers) {
  CountingResource memory;
  {
    Slab<Record> slab(10'000, memory);
    std::vector<Record*> addresses;
    for (uint32_t i = 0; i < 5000; ++i) {
      ASSERT_EQ(slab.create(), i);
      slab[i].value[0] = i;
      addresses.push_back(&slab[i]);
    }
    for (uint32_t i = 0; i < 5000; ++i) {
      ASSERT_EQ(&slab[i], addresses[i]);
      ASSERT_EQ(slab[i].value[0], i);
    }
    const uint64_t allocations = memory.allocations();
    slab.destroy(17);
    slab.destroy(4000);
    EXPECT_EQ(slab.create(), 4000U);
    EXPECT_EQ(slab.create(), 17U);
    EXPECT_EQ(slab[17].value[0], 0U) << "made from nothing";
    EXPECT_EQ(memory.allocations(), allocations);
    EXPECT_LE(memory.largest(), kChunkBytesMax);
    for (uint32_t i = 0; i < 5000; ++i) slab.destroy(i);
  }
  EXPECT_EQ(memory.bytes_in_use(), 0U);
}

TEST(Slab, SaysWhenItIsFull) {
  CountingResource memory;
  Slab<Record> slab(2, memory);
  (void)slab.create();
  EXPECT_FALSE(slab.full());
  (void)slab.create();
  EXPECT_TRUE(slab.full());
  slab.destroy(0);
  EXPECT_FALSE(slab.full());
  slab.destroy(1);
}

}  // namespace
}  // namespace taut::chat
