#include "core/allocation_counter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace taut {
namespace {

/// Keeps the compiler from leaving out a pair of allocation and free.
void* escape(void* p) {
  asm volatile("" : "+r"(p) : : "memory");
  return p;
}

template <class F>
uint64_t counted(F&& f) {
  const uint64_t before = allocations_this_thread();
  f();
  return allocations_this_thread() - before;
}

class AllocationCounter : public testing::Test {
 protected:
  void SetUp() override {
    if (!allocation_counter_available()) GTEST_SKIP() << "the sanitizer has its own malloc";
  }
};

TEST_F(AllocationCounter, CountsNothingWhenNothingIsAllocated) {
  EXPECT_EQ(counted([] {}), 0u);
}

TEST_F(AllocationCounter, CountsEveryWayToAllocate) {
  EXPECT_EQ(counted([] { std::free(escape(std::malloc(10))); }), 1u);
  EXPECT_EQ(counted([] { std::free(escape(std::calloc(10, 10))); }), 1u);
  EXPECT_EQ(counted([] { std::free(escape(std::realloc(escape(std::malloc(10)), 100'000))); }), 2u);
  EXPECT_EQ(counted([] { std::free(escape(std::aligned_alloc(64, 64))); }), 1u);
  EXPECT_EQ(counted([] {
              void* p = nullptr;
              EXPECT_EQ(posix_memalign(&p, 4096, 10), 0);
              EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % 4096, 0u);
              std::free(escape(p));
            }),
            1u);
  EXPECT_EQ(counted([] { ::operator delete(escape(::operator new(10))); }), 1u);
  EXPECT_EQ(counted([] {
              ::operator delete(escape(::operator new(64, std::align_val_t(64))), std::align_val_t(64));
            }),
            1u);
}

TEST_F(AllocationCounter, CountsAllocationsInsideTheStandardLibrary) {
  EXPECT_EQ(counted([] { EXPECT_EQ(std::to_string(1e300).size(), 308u); }), 1u);
}

TEST_F(AllocationCounter, RefusesImpossibleAlignments) {
  void* p = nullptr;
  EXPECT_EQ(posix_memalign(&p, 3, 10), EINVAL);
  EXPECT_EQ(posix_memalign(&p, 0, 10), EINVAL);
  EXPECT_EQ(p, nullptr);
}

TEST_F(AllocationCounter, TotalHoldsThreadsThatHaveEnded) {
  const uint64_t before = allocations_total();
  const uint64_t here = allocations_this_thread();
  std::thread([] {
    for (int i = 0; i < 1000; ++i) std::free(escape(std::malloc(1)));
  }).join();
  EXPECT_GE(allocations_total() - before, 1000u);
  EXPECT_LT(allocations_this_thread() - here, 1000u);
}

TEST_F(AllocationCounter, BytesInUseFollowWhatIsHeld) {
  const uint64_t before = heap_bytes_in_use();
  std::vector<std::unique_ptr<char[]>> held;
  for (int i = 0; i < 100; ++i) held.push_back(std::make_unique<char[]>(10'000));
  EXPECT_GE(heap_bytes_in_use(), before + 1'000'000);
  const uint64_t with = heap_bytes_in_use();
  held.clear();
  EXPECT_LE(heap_bytes_in_use(), with - 1'000'000);
}

}  // namespace
}  // namespace taut
