#include "base/identity.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace taut {
namespace {

TEST(Identity, AcceptsExactlyTheCharactersOfTheProtocol) {
  const std::string allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  for (int c = 0; c < 256; ++c) {
    const std::string id(1, static_cast<char>(c));
    EXPECT_EQ(valid_id(id), c != 0 && allowed.find(static_cast<char>(c)) != std::string::npos) << c;
  }
}

TEST(Identity, BoundsTheLength) {
  EXPECT_FALSE(valid_id(""));
  EXPECT_TRUE(valid_id(std::string(64, 'a')));
  EXPECT_FALSE(valid_id(std::string(65, 'a')));
}

TEST(Identity, PartitionsNeverChangeBecauseConversationIdsCarryThem) {
  EXPECT_EQ(partition_of(Role::visitor, "v1"), partition_of(Role::visitor, "v1"));
  EXPECT_NE(partition_of(Role::visitor, "a1"), partition_of(Role::agent, "a1"));
}

TEST(Identity, PartitionsSpreadEvenly) {
  std::vector<int> per_shard(7);
  for (int i = 0; i < 70'000; ++i)
    ++per_shard[shard_of(partition_of(Role::visitor, "v" + std::to_string(i)), 7)];
  for (const int n : per_shard) EXPECT_NEAR(n, 10'000, 500);
}

}  // namespace
}  // namespace taut
