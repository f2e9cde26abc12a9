#include "store/batch.h"

#include <gtest/gtest.h>

#include "store/story_fixture.h"

namespace taut::store {
namespace {

TEST(Batch, EachConversationIsChangedOnceHoweverManyItemsItGot) {
  Story story;
  story.conversation("c1", "v1");
  story.event("c1", EventKind::assigned, "a1");
  story.text("c1", "one");
  story.conversation("c2", "v2");
  story.text("c2", "two");
  story.event("c1", EventKind::closed);
  story.receipts({.conversation = "c1", .agent_read = 2});
  const Batch batch = good(fold(story.all(), 0));
  ASSERT_EQ(batch.facts.size(), 2U);
  EXPECT_EQ(batch.facts[1].record, 4U);
  EXPECT_EQ(batch.items.size(), 4U);
  ASSERT_EQ(batch.changes.size(), 2U);
  EXPECT_EQ(batch.changes[0].conversation, "c1");
  EXPECT_EQ(batch.changes[0].state, ConversationState::closed);
  EXPECT_EQ(batch.changes[0].agent, "a1");
  EXPECT_EQ(batch.changes[0].seq, 3U);
  EXPECT_EQ(batch.changes[0].receipts.agent_read, 2U);
  EXPECT_FALSE(batch.changes[1].state);
  EXPECT_EQ(batch.position, 7U);
}

TEST(Batch, LeavesOutWhatIsKnown) {
  Story story;
  story.conversation("c1", "v1");
  story.text("c1", "one");
  story.text("c1", "two");
  const Batch batch = good(fold(story.all(), 2));
  EXPECT_TRUE(batch.facts.empty());
  ASSERT_EQ(batch.items.size(), 1U);
  EXPECT_EQ(batch.items[0]->sequence, 3U);
  EXPECT_EQ(good(fold(story.all(), 3)).position, 3U);
  EXPECT_EQ(good(fold(story.all(), 9)).position, 9U);
  EXPECT_TRUE(good(fold(story.all(), 9)).items.empty());
}

TEST(Batch, AHoleIsAnErrorButForTheVeryFirstRecord) {
  Story story(10);
  story.others(3);
  EXPECT_TRUE(fold(story.all(), 0));
  EXPECT_TRUE(fold(story.all(), 9));
  EXPECT_FALSE(fold(story.all(), 8));
  std::vector<StoredRecord> torn(story.all().begin(), story.all().end());
  torn.erase(torn.begin() + 1);
  EXPECT_FALSE(fold(torn, 0));
}

}  // namespace
}  // namespace taut::store
