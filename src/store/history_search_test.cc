// What search finds, whatever database is behind it: any script, nothing an operator, short texts in pieces.
#include <string>
#include <vector>

#include "store/history_fixture.h"

namespace taut::store {
namespace {

class HistorySearch : public HistoryFixture {
 protected:
  /// c1 with these texts, as items 1, 2, 3, …
  void say(const std::vector<std::string>& texts) {
    Story story;
    story.conversation("c1", "v1");
    for (const std::string& text : texts) story.text("c1", text);
    apply(story);
  }
  std::string find(std::string_view text) { return places(all_hits(*store_, text)); }
};
INSTANTIATE_TEST_SUITE_P(, HistorySearch, kBackends, backend_name);

TEST_P(HistorySearch, FindsPartsOfWordsInAnyCase) {
  say({"Where is my Parcel?", "parcels are late", "no such thing"});
  EXPECT_EQ(find("parcel"), "c1/2 c1/1");
  EXPECT_EQ(find("ARCEL"), "c1/2 c1/1");
  EXPECT_EQ(find("my parcel?"), "c1/1");
  EXPECT_EQ(find("my  parcel"), "");
  EXPECT_EQ(find("parcel my"), "");
  EXPECT_EQ(find("IS"), "c1/1");
  EXPECT_EQ(find("?"), "c1/1");
}

TEST_P(HistorySearch, FindsChineseOfAnyLength) {
  say({"我要退款", "退款什么时候到账", "谢谢", "我想退货款"});
  EXPECT_EQ(find("我要退款"), "c1/1");
  EXPECT_EQ(find("什么时候"), "c1/2");
  EXPECT_EQ(find("要退款"), "c1/1");
  EXPECT_EQ(find("退款"), "c1/2 c1/1");
  EXPECT_EQ(find("款"), "c1/4 c1/2 c1/1");
  EXPECT_EQ(find("时候退"), "");
}

TEST_P(HistorySearch, FindsEmojiAndScriptsFromTheRight) {
  say({"thanks 👍🏽", "family 👩‍👩‍👧 here", "שלום עולם", "مرحبا بالعالم", "thanks 👍"});
  EXPECT_EQ(find("👍"), "c1/5 c1/1");
  EXPECT_EQ(find("👍🏽"), "c1/1");
  EXPECT_EQ(find("👩‍👩‍👧"), "c1/2");
  EXPECT_EQ(find("שלום"), "c1/3");
  EXPECT_EQ(find("לם"), "c1/3");
  EXPECT_EQ(find("بالعالم"), "c1/4");
}

TEST_P(HistorySearch, NothingInATextIsAnOperator) {
  const std::vector<std::string> hard = {
      "one AND two",
      "one OR two",
      "NOT one",
      "NEAR(one two, 5)",
      "one* two",
      "^one two",
      "text:one two",
      "-one two",
      "(one two)",
      "{one two}",
      "one \"two\" 3",
      "\"\"\"",
      "100% sure",
      "snake_case_name",
      "back\\slash\\",
      "it's ' quoted",
      "a;DROP TABLE items;--",
      "one + two",
      "%%%",
      "___",
  };
  say(hard);
  for (size_t i = 0; i < hard.size(); ++i) {
    EXPECT_EQ(find(hard[i]), "c1/" + std::to_string(i + 1)) << hard[i];
  }
  EXPECT_EQ(find("%"), "c1/19 c1/13");
  EXPECT_EQ(find("_"), "c1/20 c1/14");
  EXPECT_EQ(find("\\"), "c1/15");
  EXPECT_EQ(find("\""), "c1/12 c1/11");
  EXPECT_EQ(find("one OR"), "c1/2");
  EXPECT_EQ(find("o%o"), "");
  EXPECT_EQ(find("s_re"), "");
  EXPECT_EQ(find("two*"), "");
}

TEST_P(HistorySearch, FindsNotesAndNothingInItemsWithoutText) {
  Story story;
  story.conversation("c1", "v1", "needle");
  story.event("c1", EventKind::opened, "needle", "needle");
  story.note("c1", "a needle");
  apply(story);
  const std::vector<SearchHit> hits = all_hits(*store_, "needle");
  ASSERT_EQ(hits.size(), 1U);
  EXPECT_EQ(hits[0], (SearchHit{.record = 3, .conversation = "c1", .seq = 2, .json = "{c1/2 a needle}"}));
}

TEST_P(HistorySearch, HitsAreNewestFirstInPages) {
  Story story;
  story.conversation("c1", "v1");
  story.conversation("c2", "v2");
  for (int i = 0; i < 5; ++i) {
    story.text("c1", "needle");
    story.text("c2", "hay");
    story.text("c2", "needle");
  }
  apply(story);
  const std::string all = "c2/10 c1/5 c2/8 c1/4 c2/6 c1/3 c2/4 c1/2 c2/2 c1/1";
  for (const uint32_t limit : {1U, 3U, 10U, 11U}) EXPECT_EQ(places(all_hits(*store_, "needle", limit)), all);
  EXPECT_EQ(places(all_hits(*store_, "ne", 3)), all);
  EXPECT_EQ(good(store_->search("needle", 0, 10)).cursor, 0U);
  EXPECT_NE(good(store_->search("needle", 0, 9)).cursor, 0U);
}

TEST_P(HistorySearch, ShortTextsAreLookedForAPieceAtATime) {
  Story story;
  story.conversation("c1", "v1");
  story.text("c1", "xy");
  story.others(kScanRecords);
  story.conversation("c2", "v1");
  story.text("c2", "xy");
  story.others(2 * kScanRecords);
  apply(story);
  const SearchPage newest = good(store_->search("xy", 0, 10));
  EXPECT_TRUE(newest.hits.empty());
  EXPECT_NE(newest.cursor, 0U);
  EXPECT_EQ(find("xy"), "c2/1 c1/1");
  const ConversationPage conversations = good(store_->conversations({.text = "xy"}));
  EXPECT_TRUE(conversations.conversations.empty());
  EXPECT_NE(conversations.cursor, 0U);
  EXPECT_EQ(ids(all_conversations(*store_, {.text = "xy"})), "c2 c1");
}

TEST_P(HistorySearch, LongTextsAreFoundAtOnceHoweverOld) {
  Story story;
  story.conversation("c1", "v1");
  story.text("c1", "xyz");
  story.others(2 * kScanRecords);
  apply(story);
  const SearchPage page = good(store_->search("xyz", 0, 10));
  EXPECT_EQ(places(page.hits), "c1/1");
  EXPECT_EQ(page.cursor, 0U);
  EXPECT_EQ(ids(good(store_->conversations({.text = "xyz"})).conversations), "c1");
}

TEST_P(HistorySearch, TextsThatCannotBeLookedForAreRefused) {
  say({"hello"});
  for (const std::string& text :
       {std::string(), std::string("a\0b", 3), std::string(kQueryBytesMax + 1, 'x')}) {
    const Result<SearchPage> page = store_->search(text, 0, 10);
    ASSERT_FALSE(page);
    EXPECT_TRUE(page.error().message.starts_with("text to look for: ")) << page.error().message;
    if (text.empty()) continue;  // no filter
    EXPECT_FALSE(store_->conversations({.text = text}));
  }
  EXPECT_EQ(find(std::string(kQueryBytesMax, 'x')), "");
  EXPECT_EQ(find("hello"), "c1/1");
}

}  // namespace
}  // namespace taut::store
