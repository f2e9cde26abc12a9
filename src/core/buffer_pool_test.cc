#include "core/buffer_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory_resource>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace taut {
namespace {

constexpr size_t kSlab = BufferPool::kSlabBytes;
constexpr int64_t kMinute = BufferPool::kQuietNs;

BufferPool::Options small(size_t base_slabs, size_t slabs_max) {
  return {.home = 3, .base_bytes = base_slabs * kSlab, .bytes_max = slabs_max * kSlab};
}

uint64_t slabs(const BufferPool& pool) {
  return pool.metrics().slab_bytes.load() / kSlab;
}

TEST(BufferPool, GivesTheSmallestClassThatFitsForEveryCapacity) {
  BufferPool pool(small(0, 64));
  for (size_t capacity = 0; capacity <= BufferPool::kCapacityMax; ++capacity) {
    Block* const block = pool.allocate(capacity);
    ASSERT_NE(block, nullptr) << capacity;
    ASSERT_GE(block->capacity, capacity);
    if (block->size_class > 0) {
      const size_t below =
          BufferPool::kTotalBytes[block->size_class - 1U] - sizeof(Block) - BufferPool::kCanaryBytes;
      ASSERT_LT(below, capacity);
    }
    pool.release(block);
  }
}

TEST(BufferPool, RefusesMoreThanTheLargestClassAndCountsIt) {
  BufferPool pool(small(1, 4));
  EXPECT_EQ(pool.allocate(BufferPool::kCapacityMax + 1), nullptr);
  EXPECT_EQ(pool.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(pool.metrics().refused.load(), 2u);
}

TEST(BufferPool, RefusesWhenTheLimitWouldBePassedAndRecoversAfterARelease) {
  BufferPool pool(small(1, 2));
  std::vector<Block*> blocks;
  while (Block* const block = pool.allocate(BufferPool::kCapacityMax)) blocks.push_back(block);
  EXPECT_EQ(blocks.size(), 2 * (BufferPool::kSlabBytes / BufferPool::kTotalBytes.back()));
  EXPECT_EQ(slabs(pool), 2u);
  EXPECT_EQ(pool.allocate(1), nullptr);
  pool.release(blocks.back());
  blocks.back() = pool.allocate(BufferPool::kCapacityMax);
  EXPECT_NE(blocks.back(), nullptr);
  for (Block* const block : blocks) pool.release(block);
}

TEST(BufferPool, GivesALargerBlockWhenNoSlabIsLeftForTheRightOne) {
  BufferPool pool(small(0, 1));
  Block* const large = pool.allocate(10'000);
  Block* const instead = pool.allocate(10);
  ASSERT_NE(instead, nullptr);
  EXPECT_GE(instead->capacity, 10'000u);
  pool.release(instead);
  pool.release(large);
}

TEST(BufferPool, PreparesTheNextSlabInStepsOnceTheLastEmptyOneIsTaken) {
  BufferPool pool(small(1, 4));
  EXPECT_FALSE(pool.prepare_some()) << "an empty slab is there";
  Block* const block = pool.allocate(10);
  uint32_t steps = 0;
  while (pool.prepare_some()) ++steps;
  EXPECT_EQ(steps, BufferPool::kSlabBytes / BufferPool::kPrepareBytes);
  EXPECT_EQ(slabs(pool), 2u);
  Block* const other_class = pool.allocate(10'000);
  EXPECT_EQ(slabs(pool), 2u) << "the prepared slab serves";
  pool.release(block);
  pool.release(other_class);
}

TEST(BufferPool, HandsOutBlocksAsNewWhateverTheyHeldBefore) {
  BufferPool pool(small(1, 1));
  Block* block = pool.allocate(200);
  block->append("something");
  block->next = block;
  pool.add_ref(block);
  pool.release(block);
  pool.release(block);
  Block* const again = pool.allocate(200);
  EXPECT_EQ(again, block);
  EXPECT_EQ(again->written, 0u);
  EXPECT_EQ(again->refs, 1u);
  EXPECT_EQ(again->next, nullptr);
  EXPECT_EQ(again->home, 3);
  EXPECT_EQ(again->bytes(), "");
  pool.free(again);
}

TEST(BufferPool, ShowsOnlyWrittenBytes) {
  BufferPool pool(small(1, 1));
  Block* const block = pool.allocate(10);
  block->append("abc");
  block->room()[0] = 'd';
  EXPECT_EQ(block->bytes(), "abc");
  block->commit(1);
  EXPECT_EQ(block->bytes(), "abcd");
  EXPECT_EQ(block->room().size(), block->capacity - 4);
  pool.release(block);
}

TEST(BufferPool, AlignsDataTo32Bytes) {
  BufferPool pool(small(0, 64));
  for (const uint32_t total : BufferPool::kTotalBytes) {
    Block* const a = pool.allocate(total - 64);
    Block* const b = pool.allocate(total - 64);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(a->data()) % 32, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(b->data()) % 32, 0u);
    pool.release(a);
    pool.release(b);
  }
}

TEST(BufferPool, FreesAtTheLastReferenceOnly) {
  BufferPool pool(small(1, 1));
  Block* const block = pool.allocate(1000);
  pool.add_ref(block);
  pool.add_ref(block);
  pool.release(block);
  pool.release(block);
  EXPECT_EQ(pool.metrics().blocks_outstanding(), 1u);
  EXPECT_EQ(pool.metrics().bytes_in_use(), BufferPool::kTotalBytes[block->size_class]);
  pool.release(block);
  EXPECT_EQ(pool.metrics().blocks_outstanding(), 0u);
  EXPECT_EQ(pool.metrics().bytes_in_use(), 0u);
}

TEST(BufferPool, WipesSecretsWhenTheLastReferenceGoes) {
  BufferPool pool(small(1, 1));
  Block* const block = pool.allocate(100);
  block->append("a password that must go");
  block->keep_secret();
  char* const data = block->data();
  pool.add_ref(block);
  pool.release(block);
  EXPECT_EQ(block->bytes(), "a password that must go");
  pool.release(block);
  Block* const again = pool.allocate(100);  // makes the memory readable again under AddressSanitizer
  ASSERT_EQ(again->data(), data);
  EXPECT_EQ(std::string_view(data, 100).find("password"), std::string_view::npos);
  EXPECT_EQ(again->state, Block::State::live);
  pool.release(again);
}

TEST(BufferPool, GivesWhatMustBeBeyondItsLimitAndCountsItUntilItComesBack) {
  BufferPool pool(small(1, 1));
  Block* const within = pool.allocate_anyway(100);
  EXPECT_EQ(pool.metrics().overdrawn_blocks.load(), 0u);
  std::vector<Block*> hoard;
  while (Block* const block = pool.allocate(100)) hoard.push_back(block);
  const uint64_t full_bytes = pool.metrics().bytes_in_use();
  Block* const beyond = pool.allocate_anyway(BufferPool::kCapacityMax);
  ASSERT_NE(beyond, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(beyond->data()) % 32, 0u);
  beyond->append(std::string(BufferPool::kCapacityMax, 'x'));
  pool.add_ref(beyond);
  pool.release(beyond);
  EXPECT_EQ(pool.metrics().overdrawn_blocks.load(), 1u);
  EXPECT_EQ(pool.metrics().blocks_outstanding(), hoard.size() + 2);
  EXPECT_GE(pool.metrics().bytes_in_use(), full_bytes + BufferPool::kCapacityMax);
  EXPECT_EQ(pool.metrics().slab_bytes.load(), kSlab);
  pool.release(beyond);
  EXPECT_EQ(pool.metrics().overdrawn_blocks.load(), 0u);
  EXPECT_EQ(pool.metrics().bytes_in_use(), full_bytes);
  EXPECT_EQ(pool.allocate(100), nullptr);  // what came back is nobody else's
  for (Block* const block : hoard) pool.release(block);
  pool.release(within);
}

TEST(BufferPool, LetsAnEmptySlabServeAnotherClass) {
  BufferPool pool(small(1, 1));
  for (const uint32_t total : BufferPool::kTotalBytes) {
    std::vector<Block*> blocks;
    while (Block* const block = pool.allocate(total - 64)) blocks.push_back(block);
    EXPECT_EQ(blocks.size(), (kSlab - BufferPool::kSlabHeaderBytes) / total);
    for (Block* const block : blocks) pool.release(block);
  }
}

TEST(BufferPool, GivesBackSlabsBeyondTheBaseSetAfterAQuietMinute) {
  BufferPool pool(small(1, 8));
  std::vector<Block*> blocks;
  while (Block* const block = pool.allocate(BufferPool::kCapacityMax)) blocks.push_back(block);
  for (Block* const block : blocks) pool.release(block);
  EXPECT_EQ(slabs(pool), 8u);
  pool.trim(1000);
  pool.trim(1000 + kMinute - 1);
  EXPECT_EQ(slabs(pool), 8u);
  pool.trim(1000 + kMinute);
  EXPECT_EQ(slabs(pool), 8u - BufferPool::kSlabsPerTrim);
  for (int i = 0; i < 10; ++i) pool.trim(1000 + kMinute);
  EXPECT_EQ(slabs(pool), 1u);
}

TEST(BufferPool, KeepsASlabThatWasUsedWithinTheMinute) {
  BufferPool pool(small(0, 2));
  pool.release(pool.allocate(100));
  pool.trim(0);
  pool.release(pool.allocate(100));
  pool.trim(kMinute);
  EXPECT_EQ(slabs(pool), 1u);
  pool.trim(2 * kMinute);
  EXPECT_EQ(slabs(pool), 0u);
}

TEST(BufferPool, PrefersTheBaseSetSoThatExtraSlabsRunEmpty) {
  BufferPool pool(small(1, 2));
  std::vector<Block*> blocks;  // two in the base slab, two in the extra one
  for (int i = 0; i < 4; ++i) blocks.push_back(pool.allocate(BufferPool::kCapacityMax));
  Block* const in_base = blocks[0];
  pool.release(blocks[2]);
  pool.release(in_base);
  blocks[0] = pool.allocate(BufferPool::kCapacityMax);
  EXPECT_EQ(blocks[0], in_base);
  pool.release(blocks[3]);
  pool.trim(0);
  pool.trim(kMinute);
  EXPECT_EQ(slabs(pool), 1u);
  pool.release(blocks[0]);
  pool.release(blocks[1]);
}

TEST(BufferPool, NeverLetsBlocksOverlapUnderRandomUse) {
  const uint64_t seed = 20'240'817;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  BufferPool pool(small(2, 200));
  std::deque<std::pair<Block*, char>> held;
  for (int i = 0; i < 60'000; ++i) {
    if (random() % 2 == 0 || held.empty()) {
      Block* const block = pool.allocate(random() % (random() % 20 == 0 ? 100'000 : 3'000));
      if (block == nullptr) continue;
      const char fill = static_cast<char>(random());
      std::ranges::fill(block->room().first(std::min<size_t>(block->capacity, 256)), fill);
      block->data()[block->capacity - 1] = fill;
      held.emplace_back(block, fill);
    } else {
      std::swap(held[random() % held.size()], held.front());
      const auto [block, fill] = held.front();
      held.pop_front();
      ASSERT_EQ(block->data()[0], fill);
      ASSERT_EQ(block->data()[block->capacity - 1], fill);
      pool.release(block);
    }
    if (i % 1000 == 0) pool.trim(int64_t{i} * kMinute);
  }
  EXPECT_EQ(pool.metrics().blocks_outstanding(), held.size());
  for (const auto& [block, fill] : held) pool.release(block);
  EXPECT_EQ(pool.metrics().bytes_in_use(), 0u);
}

TEST(BufferPoolDeathTest, RefusesADoubleRelease) {
  BufferPool pool(small(1, 1));
  Block* const block = pool.allocate(100);
  pool.release(block);
  EXPECT_DEATH(pool.release(block), "guard");
  EXPECT_DEATH(pool.add_ref(block), "guard");
}

TEST(BufferPoolDeathTest, RefusesABlockOfAnotherPool) {
  BufferPool ours(small(1, 1));
  BufferPool other({.home = 4, .base_bytes = kSlab, .bytes_max = kSlab});
  BufferPool same_home(small(1, 1));
  Block* const a = other.allocate(100);
  Block* const b = same_home.allocate(100);
  EXPECT_DEATH(ours.release(a), "home");
  EXPECT_DEATH(ours.release(b), "pool");
  other.release(a);
  same_home.release(b);
}

TEST(BufferPoolDeathTest, NoticesAHeaderThatWasOverwritten) {
  BufferPool pool(small(1, 1));
  Block* const block = pool.allocate(100);
  const uint64_t guard = block->guard;
  block->guard = 0;
  EXPECT_DEATH(pool.release(block), "guard");
  block->guard = guard;
  pool.release(block);
}

TEST(BufferPoolDeathTest, RefusesToFreeABlockThatOthersHold) {
  BufferPool pool(small(1, 1));
  Block* const block = pool.allocate(100);
  pool.add_ref(block);
  EXPECT_DEATH(pool.free(block), "refs");
  pool.release(block);
  pool.free(block);
}

TEST(BufferPoolDeathTest, RefusesToWriteBeyondTheRoom) {
  BufferPool pool(small(1, 1));
  Block* const block = pool.allocate(100);
  const std::string more(block->capacity + 1U, 'x');
  EXPECT_DEATH(block->append(more), "written");
  EXPECT_DEATH(block->commit(more.size()), "written");
  pool.release(block);
}

#ifdef TAUT_DEBUG
TEST(BufferPoolDeathTest, NoticesAWriteBehindTheDataInDebugBuilds) {
  BufferPool pool(small(1, 1));
  Block* const block = pool.allocate(100);
  char& behind = block->data()[block->capacity];
  const char kept = behind;
  behind = 1;
  EXPECT_DEATH(pool.release(block), "canary");
  behind = kept;
  pool.release(block);
}

TEST(BufferPoolDeathTest, NoticesAnotherThreadInDebugBuilds) {
  BufferPool pool(small(1, 1));
  std::thread([&] { pool.adopt(); }).join();
  EXPECT_DEATH((void)pool.allocate(1), "owner_");
}
#endif

#ifdef __SANITIZE_ADDRESS__
TEST(BufferPoolDeathTest, ReadingAFreeBlockIsReportedByAddressSanitizer) {
  BufferPool pool(small(1, 1));
  Block* const block = pool.allocate(100);
  pool.release(block);
  EXPECT_DEATH({ *static_cast<volatile char*>(block->data()) = 1; }, "use-after-poison");
}
#endif

TEST(PoolResource, ServesContainersFromThePoolAndCountsWhatCannotBe) {
  BufferPool pool(small(1, 1));
  PoolResource resource(pool);
  {
    std::pmr::string text(500, 'x', &resource);
    EXPECT_EQ(pool.metrics().blocks_outstanding(), 1u);
    EXPECT_EQ(resource.heap_allocations(), 0u);
    const std::pmr::string large(BufferPool::kCapacityMax + 1, 'y', &resource);
    EXPECT_EQ(resource.heap_allocations(), 1u);
    EXPECT_EQ(pool.metrics().blocks_outstanding(), 1u);
    EXPECT_EQ(large.back(), 'y');
  }
  EXPECT_EQ(pool.metrics().blocks_outstanding(), 0u);
}

TEST(PoolResource, FallsBackToTheHeapWhenThePoolRefuses) {
  BufferPool pool(small(0, 0));
  PoolResource resource(pool);
  const std::pmr::vector<uint64_t> numbers(10, 7, &resource);
  EXPECT_EQ(resource.heap_allocations(), 1u);
  EXPECT_EQ(numbers[9], 7u);
}

TEST(PoolResource, KeepsLargeAlignmentsOnTheHeap) {
  BufferPool pool(small(1, 1));
  PoolResource resource(pool);
  for (const size_t alignment : {1u, 32u, 64u, 4096u}) {
    void* const p = resource.allocate(100, alignment);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % alignment, 0u);
    resource.deallocate(p, 100, alignment);
  }
  EXPECT_EQ(resource.heap_allocations(), 2u);
}

}  // namespace
}  // namespace taut
