#include "gateway/conversation_id.h"

#include <gtest/gtest.h>

#include "base/identity.h"

namespace taut::gateway {
namespace {

TEST(ConversationId, CarriesThePartitionAndIsAValidId) {
  for (uint32_t partition = 0; partition < kPartitions; ++partition) {
    const std::string id = make_conversation_id(partition, 1'800'000'000'000, 123'456'789);
    ASSERT_TRUE(valid_id(id)) << id;
    ASSERT_EQ(partition_of_conversation(id), partition) << id;
  }
}

TEST(ConversationId, FitsWithTheLargestCounter) {
  EXPECT_TRUE(valid_id(make_conversation_id(kPartitions - 1, INT64_MAX, UINT64_MAX)));
}

TEST(ConversationId, RefusesWhatIsNoneOfOurs) {
  for (const char* text :
       {"", "c", "c12", "c123", "x123-1-1", "c12-31-1", "cxyz-1-1", "c 12-1-1", "c+12-1", "hello"}) {
    EXPECT_EQ(partition_of_conversation(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace taut::gateway
