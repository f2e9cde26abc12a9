#include "base/secret_string.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace taut {
namespace {

int given_back = 0;
int given_back_wiped = 0;

/// Counts what comes back, and of that what is all zeros.
template <class T>
struct Inspector {
  using value_type = T;
  T* allocate(size_t count) { return std::allocator<T>().allocate(count); }
  void deallocate(T* memory, size_t count) {
    ++given_back;
    if (std::all_of(memory, memory + count, [](T c) { return c == T{}; })) ++given_back_wiped;
    std::allocator<T>().deallocate(memory, count);
  }
};

TEST(SecretString, WipesItsMemoryWhenItGrowsIsOverwrittenOrGoes) {
  using Inspected = std::basic_string<char, std::char_traits<char>, WipingAllocator<char, Inspector<char>>>;
  {
    Inspected token(100, 't');
    token.append(1'000, 'u');
    EXPECT_EQ(given_back, 1);
    token.erase(0, 500);
    Inspected moved = std::move(token);
    moved = Inspected(200, 'v');
    EXPECT_EQ(given_back, 2);
  }
  EXPECT_EQ(given_back, 3);
  EXPECT_EQ(given_back_wiped, 3);
}

}  // namespace
}  // namespace taut
