#include "chat/dedup_window.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <random>

#include "chat/counting_resource.h"

namespace taut::chat {
namespace {

using Verdict = DedupWindow::Verdict;

IdHash hashed(uint64_t n) {
  std::mt19937_64 random(n);
  return {.high = random(), .low = random()};
}

TEST(DedupWindow, KnowsNothingAtFirstAndCostsNothing) {
  CountingResource memory;
  const DedupWindow window(memory);
  EXPECT_EQ(window.find(hashed(1), 1).verdict, Verdict::fresh);
  EXPECT_EQ(memory.allocations(), 0U);
}

TEST(DedupWindow, AnswersARepeatWithTheFirstEpochSeqAndTime) {
  CountingResource memory;
  DedupWindow window(memory);
  window.add(hashed(1), 11, 2, 33, 44);
  const DedupWindow::Found found = window.find(hashed(1), 11);
  EXPECT_EQ(found.verdict, Verdict::same);
  EXPECT_EQ(found.epoch, 2U);
  EXPECT_EQ(found.seq, 33U);
  EXPECT_EQ(found.ts_ms, 44);
}

TEST(DedupWindow, ARepeatWithAnotherBodyIsAConflict) {
  CountingResource memory;
  DedupWindow window(memory);
  window.add(hashed(1), 11, 1, 1, 1);
  EXPECT_EQ(window.find(hashed(1), 12).verdict, Verdict::conflict);
  EXPECT_EQ(window.find(hashed(1), 11).verdict, Verdict::same);
}

TEST(DedupWindow, TellsIdsApartThatShareAllOfTheIndexBits) {
  CountingResource memory;
  DedupWindow window(memory);
  for (uint64_t i = 0; i < 100; ++i) window.add({.high = i, .low = 5}, i, 1, i, 0);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(window.find({.high = i, .low = 5}, i).seq, i);
    EXPECT_EQ(window.find({.high = i, .low = 5 + (uint64_t{1} << 40)}, i).verdict, Verdict::fresh);
  }
  EXPECT_EQ(window.find({.high = 100, .low = 5}, 100).verdict, Verdict::fresh);
}

TEST(DedupWindow, RemembersExactlyTheLast4096Ids) {
  CountingResource memory;
  DedupWindow window(memory);
  for (uint64_t n = 1; n <= 10'000; ++n) window.add(hashed(n), n, 1, n, 0);
  EXPECT_EQ(window.size(), 4096U);
  for (uint64_t n = 1; n <= 10'000; ++n) {
    const auto found = window.find(hashed(n), n);
    ASSERT_EQ(found.verdict, n > 10'000 - 4096 ? Verdict::same : Verdict::fresh) << n;
    ASSERT_EQ(found.seq, n > 10'000 - 4096 ? n : 0);
  }
}

TEST(DedupWindow, IsCheapWhileShortBoundedWhenFullAndAllocatesNoMoreThen) {
  CountingResource memory;
  {
    DedupWindow window(memory);
    for (uint64_t n = 0; n < 16; ++n) window.add(hashed(n), n, 1, n, 0);
    EXPECT_LE(memory.bytes_in_use(), 1200U);
    for (uint64_t n = 16; n < 4096; ++n) window.add(hashed(n), n, 1, n, 0);
    EXPECT_LE(memory.bytes_in_use(), 300U * 1024);
    EXPECT_LE(memory.largest(), kChunkBytesMax);
    const uint64_t allocations = memory.allocations();
    for (uint64_t n = 4096; n < 40'000; ++n) window.add(hashed(n), n, 1, n, 0);
    EXPECT_EQ(memory.allocations(), allocations);
  }
  EXPECT_EQ(memory.bytes_in_use(), 0U);
}

/// Hashes whose index bits are few make long runs, where backward shifts go wrong if they can.
TEST(DedupWindow, AgreesWithANaiveModelUnderHeavyCollisions) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    CountingResource memory;
    DedupWindow window(memory);
    std::map<uint64_t, uint64_t> model;
    std::deque<uint64_t> order;
    const uint64_t span = uint64_t{1} << (8 + seed % 8);
    for (uint32_t step = 0; step < 12'000; ++step) {
      const uint64_t n = random() % 20'000;
      const IdHash id{.high = n, .low = (n % span) * 8191};
      const auto found = window.find(id, n);
      const auto known = model.find(n);
      ASSERT_EQ(found.verdict, known == model.end() ? Verdict::fresh : Verdict::same);
      if (known != model.end()) {
        ASSERT_EQ(found.seq, known->second);
        continue;
      }
      window.add(id, n, 1, step, 0);
      model[n] = step;
      order.push_back(n);
      if (order.size() > DedupWindow::kIds) {
        model.erase(order.front());
        order.pop_front();
      }
    }
  }
}

}  // namespace
}  // namespace taut::chat
