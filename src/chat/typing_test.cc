#include "chat/typing.h"

#include <gtest/gtest.h>

namespace taut::chat {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr Handle kPhone(1, 1, 1);
constexpr Handle kLaptop(1, 1, 2);

TEST(Typing, TellsOnAndOffOnce) {
  Typing typing;
  EXPECT_EQ(typing.due(0), std::nullopt);
  typing.hear(kPhone, true);
  EXPECT_EQ(typing.due(0), true);
  EXPECT_EQ(typing.due(1 * kMs), std::nullopt);
  typing.hear(kPhone, false);
  EXPECT_EQ(typing.due(2 * kMs), false);
  typing.hear(kPhone, false);
  EXPECT_EQ(typing.due(3 * kMs), std::nullopt);
}

TEST(Typing, ManyWordsBetweenTwoLooksAreTheLastOne) {
  Typing typing;
  for (int i = 0; i < 1000; ++i) typing.hear(kPhone, i % 2 == 0);
  EXPECT_EQ(typing.due(0), std::nullopt) << "off, as it was";
  typing.hear(kPhone, true);
  EXPECT_EQ(typing.due(0), true);
}

TEST(Typing, WhoGoesOnIsToldAgainNowAndThenAndInTime) {
  static_assert(Typing::kAgainNs * 2 < Typing::kTtlNs, "one lost word is not seen");
  Typing typing;
  uint32_t told = 0;
  for (int64_t now_ns = 0; now_ns < 20 * Typing::kAgainNs; now_ns += 100 * kMs) {
    typing.hear(kPhone, true);
    told += typing.due(now_ns).has_value() ? 1 : 0;
  }
  EXPECT_EQ(told, 20U);
}

TEST(Typing, AnOffAfterTheTimeToLiveIsKnown) {
  Typing typing;
  typing.hear(kPhone, true);
  EXPECT_EQ(typing.due(0), true);
  typing.hear(kPhone, false);
  EXPECT_EQ(typing.due(Typing::kTtlNs), std::nullopt);
}

TEST(Typing, TheEndOfAnotherConnectionChangesNothing) {
  Typing typing;
  typing.hear(kPhone, true);
  EXPECT_EQ(typing.due(0), true);
  typing.hear(kLaptop, false);
  EXPECT_EQ(typing.due(1 * kMs), std::nullopt);
  typing.hear(kLaptop, true);
  typing.hear(kPhone, false);
  EXPECT_EQ(typing.due(2 * kMs), std::nullopt) << "the laptop types now";
}

}  // namespace
}  // namespace taut::chat
