#include "chat/handle_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "chat/counting_resource.h"

namespace taut::chat {
namespace {

TEST(HandleMap, AgreesWithAStdMapThroughInsertsAndErases) {
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    CountingResource memory;
    HandleMap map(500, memory);
    std::map<uint64_t, uint32_t> model;
    const uint64_t allocations = memory.allocations();
    for (uint32_t step = 0; step < 20'000; ++step) {
      const auto pick = static_cast<uint32_t>(random());
      const Handle key(pick % 3, 1 + pick / 3 % 2, pick / 6 % 400);
      const auto known = model.find(key.bits());
      ASSERT_EQ(map.find(key).has_value(), known != model.end());
      if (known != model.end()) {
        ASSERT_EQ(*map.find(key), known->second);
        map.erase(key);
        model.erase(known);
      } else if (map.size() < 500) {
        map.insert(key, step);
        model[key.bits()] = step;
      }
      ASSERT_EQ(map.size(), model.size());
    }
    EXPECT_EQ(memory.allocations(), allocations) << "made at its limit";
  }
}

TEST(HandleMapDeathTest, RefusesToHoldAHandleTwice) {
  CountingResource memory;
  HandleMap map(4, memory);
  map.insert(Handle(0, 1, 0), 1);
  EXPECT_DEATH(map.insert(Handle(0, 1, 0), 2), "assertion failed");
}

}  // namespace
}  // namespace taut::chat
