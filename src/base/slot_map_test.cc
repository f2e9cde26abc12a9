#include "base/slot_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace taut {
namespace {

TEST(SlotMap, AnErasedHandleFindsNothingEvenWhenItsSlotIsReused) {
  SlotMap<std::string> map(3);
  map.emplace("first");
  const Handle first(3, 1, 0);
  ASSERT_NE(map.find(first), nullptr);
  map.erase(first);
  EXPECT_EQ(map.find(first), nullptr);
  map.emplace("second");
  EXPECT_EQ(map.find(first), nullptr);
  EXPECT_EQ(*map.find(Handle(3, 2, 0)), "second");
}

TEST(SlotMap, RefusesHandlesOfAnotherShardAndOfNoSlot) {
  SlotMap<int> map(1);
  map.emplace(7);
  EXPECT_EQ(map.find(Handle(2, 1, 0)), nullptr);
  EXPECT_EQ(map.find(Handle(1, 1, 1'000'000)), nullptr);
  EXPECT_EQ(map.find(Handle{}), nullptr);
}

TEST(SlotMap, GivesTheHandleToTypesThatAskForIt) {
  struct Item {
    Item(Handle h, int v) : handle(h), value(v) {}
    Handle handle;
    int value;
  };
  SlotMap<Item> map(9);
  Item& item = map.emplace(42);
  EXPECT_EQ(map.find(item.handle), &item);
}

TEST(SlotMap, AgreesWithAPlainMapUnderRandomUse) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  struct Item {
    Item(Handle h, uint64_t v) : handle(h), value(v) {}
    Handle handle;
    uint64_t value;
  };
  SlotMap<Item> map(5);
  std::map<uint64_t, uint64_t> model;
  for (int i = 0; i < 20'000; ++i) {
    if (model.empty() || random() % 5 < 3) {
      const uint64_t value = random();
      model[map.emplace(value).handle.bits()] = value;
    } else {
      auto it = model.begin();
      std::advance(it, static_cast<std::ptrdiff_t>(random() % std::min<size_t>(model.size(), 50)));
      map.erase(Handle::from_bits(it->first));
      model.erase(it);
    }
    ASSERT_EQ(map.size(), model.size());
  }
  uint64_t visited = 0;
  map.for_each([&](Handle h, Item& item) {
    ++visited;
    EXPECT_EQ(model.at(h.bits()), item.value);
  });
  EXPECT_EQ(visited, model.size());
}

}  // namespace
}  // namespace taut
