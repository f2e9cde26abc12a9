#include "core/live_histogram.h"

#include <gtest/gtest.h>

#include <thread>

namespace taut {
namespace {

TEST(LiveHistogram, CanBeMergedWhileItsOwnerRecords) {
  LiveHistogram live;
  constexpr int64_t kValues = 200'000;
  std::thread owner([&] {
    for (int64_t v = 1; v <= kValues; ++v) live.record(v);
  });
  uint64_t before = 0;
  while (before < kValues) {
    Histogram<> seen;
    seen.merge(live);
    EXPECT_GE(seen.count(), before);
    before = seen.count();
    EXPECT_LE(seen.max_ns(), kValues);
    std::this_thread::yield();
  }
  owner.join();
  Histogram<> end;
  end.merge(live);
  EXPECT_EQ(end.count(), static_cast<uint64_t>(kValues));
  EXPECT_EQ(end.max_ns(), kValues);
}

}  // namespace
}  // namespace taut
