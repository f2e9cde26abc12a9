#include "hub/token_bucket.h"

#include <gtest/gtest.h>

namespace taut::hub {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

TEST(TokenBucket, GrantsTheBurstAtOnceThenTheRate) {
  TokenBucket bucket;
  const Rate rate{.per_second = 200, .burst = 1000};
  int granted = 0;
  for (int i = 0; i < 5000; ++i) granted += bucket.take(rate, 7 * kSecond);
  EXPECT_EQ(granted, 1000);
  granted = 0;
  for (int i = 0; i < 5000; ++i) granted += bucket.take(rate, 8 * kSecond);
  EXPECT_EQ(granted, 200);
}

TEST(TokenBucket, NeverSavesUpMoreThanTheBurst) {
  TokenBucket bucket;
  const Rate rate{.per_second = 10, .burst = 3};
  EXPECT_TRUE(bucket.take(rate, kSecond));
  int granted = 0;
  for (int i = 0; i < 100; ++i) granted += bucket.take(rate, 3600 * kSecond);
  EXPECT_EQ(granted, 3);
}

TEST(TokenBucket, ZeroMeansNoLimit) {
  TokenBucket bucket;
  for (int i = 0; i < 100'000; ++i) ASSERT_TRUE(bucket.take(Rate{}, kSecond));
}

TEST(TokenBucket, TellsTheTruthAboutWhenToComeBack) {
  TokenBucket bucket;
  const Rate rate{.per_second = 10, .burst = 1};
  EXPECT_TRUE(bucket.take(rate, kSecond));
  EXPECT_FALSE(bucket.take(rate, kSecond));
  const int64_t wait_ms = bucket.retry_after_ms(rate, kSecond);
  EXPECT_GE(wait_ms, 100);
  EXPECT_LE(wait_ms, 101);
  EXPECT_TRUE(bucket.take(rate, kSecond + wait_ms * 1'000'000));
}

}  // namespace
}  // namespace taut::hub
