#include "gateway/presence_words.h"

#include <gtest/gtest.h>

#include <vector>

namespace taut::gateway {
namespace {

constexpr Handle kAgent(1, 1, 1);
constexpr int64_t kSecond = 1'000'000'000;

class PresenceWordsTest : public testing::Test {
 protected:
  void say(chat::Presence status) {
    const PresenceWords::Word word{.agent = kAgent, .status = status, .capacity = 3};
    if (words.pass(bucket, word, now_ns)) heard.push_back(word.status);
  }
  void release() {
    words.release(
        now_ns, [this](Handle) { return gone ? nullptr : &bucket; },
        [this](const PresenceWords::Word& word) { heard.push_back(word.status); });
  }

  PresenceWords words;
  hub::TokenBucket bucket;
  int64_t now_ns = kSecond;
  bool gone = false;
  std::vector<chat::Presence> heard;
};

TEST_F(PresenceWordsTest, UsualWordsPassAtOnce) {
  say(chat::Presence::online);
  say(chat::Presence::away);
  EXPECT_EQ(heard.size(), 2U);
  EXPECT_TRUE(words.empty());
}

// Presence fan-out ate the CPU: 5,000 flaps a second.
TEST_F(PresenceWordsTest, AnAgentThatFlapsIsHeardSeldomAndItsLastWordWins) {
  constexpr uint32_t kFlaps = 5'000;
  for (uint32_t i = 0; i < kFlaps; ++i) {
    say(i % 2 == 0 ? chat::Presence::online : chat::Presence::away);
    now_ns += kSecond / kFlaps;
    release();
  }
  EXPECT_LE(heard.size(), PresenceWords::kRate.burst + PresenceWords::kRate.per_second + 1);
  say(chat::Presence::busy);
  now_ns += PresenceWords::kPauseNs;
  release();
  EXPECT_EQ(heard.back(), chat::Presence::busy);
  EXPECT_TRUE(words.empty());
}

TEST_F(PresenceWordsTest, TheLastWordOfOneWhoLeavesIsSaidBeforeThat) {
  for (uint32_t i = 0; i < PresenceWords::kRate.burst; ++i) say(chat::Presence::online);
  say(chat::Presence::offline);
  EXPECT_EQ(heard.back(), chat::Presence::online);
  words.release_last(kAgent, [this](const PresenceWords::Word& word) { heard.push_back(word.status); });
  EXPECT_EQ(heard.back(), chat::Presence::offline);
  EXPECT_TRUE(words.empty());
}

TEST_F(PresenceWordsTest, WordsOfOneWhoIsGoneAreForgotten) {
  for (uint32_t i = 0; i <= PresenceWords::kRate.burst; ++i) say(chat::Presence::online);
  gone = true;
  const size_t before = heard.size();
  release();
  EXPECT_EQ(heard.size(), before);
  EXPECT_TRUE(words.empty());
}

}  // namespace
}  // namespace taut::gateway
