#include "base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace taut {
namespace {

TEST(Histogram, GivesEveryValueBelow2048ABucketOfItsOwn) {
  Histogram<> h;
  for (int64_t v = 0; v < 2048; ++v) h.record(v);
  int64_t next = 0;
  h.for_each([&](int64_t low, int64_t high, uint64_t n) {
    EXPECT_EQ(low, next);
    EXPECT_EQ(high, next);
    EXPECT_EQ(n, 1u);
    ++next;
  });
  EXPECT_EQ(next, 2048);
}

TEST(Histogram, BucketsFollowOneAnotherWithoutGapOrOverlapUpToTheMaximum) {
  using H = Histogram<>;
  const size_t last = H::index_of(H::kValueMax);
  EXPECT_EQ(H::lowest_of(0), 0);
  for (size_t i = 0; i <= last; ++i) {
    const int64_t low = H::lowest_of(i);
    const int64_t high = H::highest_of(i);
    ASSERT_LE(low, high);
    ASSERT_EQ(H::index_of(static_cast<uint64_t>(low)), i);
    ASSERT_EQ(H::index_of(static_cast<uint64_t>(high)), i);
    ASSERT_EQ(H::lowest_of(i + 1), high + 1);
    // Three significant digits: a bucket is at most a thousandth of its values wide.
    ASSERT_LE((high - low) * 1000, std::max<int64_t>(low, 1));
  }
  EXPECT_GE(H::highest_of(last), H::kValueMax);
}

TEST(Histogram, PercentilesOfTheFirstThousandAreExact) {
  Histogram<> h;
  for (int64_t v = 1; v <= 1000; ++v) h.record(v);
  EXPECT_EQ(h.percentile_ns(0), 1);
  EXPECT_EQ(h.percentile_ns(0.1), 1);
  EXPECT_EQ(h.percentile_ns(50), 500);
  EXPECT_EQ(h.percentile_ns(50.01), 501);
  EXPECT_EQ(h.percentile_ns(99), 990);
  EXPECT_EQ(h.percentile_ns(99.9), 999);
  EXPECT_EQ(h.percentile_ns(99.91), 1000);
  EXPECT_EQ(h.percentile_ns(100), 1000);
  EXPECT_EQ(h.mean_ns(), 500.5);
  EXPECT_EQ(h.sum_ns(), 500'500u);
  EXPECT_EQ(h.count(), 1000u);
}

TEST(Histogram, PercentilesAreTheSortedValueOrUpToAThousandthMore) {
  const uint64_t seed = 42;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  Histogram<> h;
  std::vector<int64_t> values;
  for (int i = 0; i < 20'000; ++i) {
    values.push_back(static_cast<int64_t>(random() >> (23 + random() % 40)));
    h.record(values.back());
  }
  std::ranges::sort(values);
  for (size_t quarter = 1; quarter <= 400; ++quarter) {
    const double percent = static_cast<double>(quarter) / 4;
    const size_t rank = (quarter * values.size() + 399) / 400;
    const int64_t exact = values[rank - 1];
    EXPECT_GE(h.percentile_ns(percent), exact);
    EXPECT_LE(h.percentile_ns(percent), exact + exact / 1000);
  }
  EXPECT_EQ(h.percentile_ns(100), values.back());
  EXPECT_EQ(h.max_ns(), values.back());
}

TEST(Histogram, IsZeroWhenEmpty) {
  Histogram<> h;
  EXPECT_EQ(h.count(), 0u);
  EXPECT_EQ(h.max_ns(), 0);
  EXPECT_EQ(h.mean_ns(), 0.0);
  EXPECT_EQ(h.percentile_ns(0), 0);
  EXPECT_EQ(h.percentile_ns(99), 0);
  h.for_each([](int64_t, int64_t, uint64_t) { ADD_FAILURE(); });
}

TEST(Histogram, ClampsToItsRange) {
  Histogram<> h;
  h.record(-5);
  h.record(INT64_MAX);
  EXPECT_EQ(h.percentile_ns(50), 0);
  EXPECT_EQ(h.max_ns(), Histogram<>::kValueMax);
  EXPECT_EQ(h.count(), 2u);
}

TEST(Histogram, MergeEqualsRecordingEverythingInOne) {
  Histogram<> a;
  Histogram<> b;
  Histogram<> both;
  for (int64_t v = 1; v < 1'000'000'000; v = v * 3 / 2 + 1) {
    (v % 2 == 0 ? a : b).record(v, 3);
    both.record(v, 3);
  }
  a.merge(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.sum_ns(), both.sum_ns());
  EXPECT_EQ(a.max_ns(), both.max_ns());
  for (double p = 0; p <= 100; p += 1) EXPECT_EQ(a.percentile_ns(p), both.percentile_ns(p));
}

TEST(Histogram, ResetForgetsEverything) {
  Histogram<> h;
  h.record(5'000);
  h.reset();
  EXPECT_EQ(h.count(), 0u);
  EXPECT_EQ(h.max_ns(), 0);
  EXPECT_EQ(h.sum_ns(), 0u);
}

}  // namespace
}  // namespace taut
