#include "chat/sender_windows.h"

#include <gtest/gtest.h>

#include <string>

#include "chat/counting_resource.h"

namespace taut::chat {
namespace {

constexpr IdHash kId{.high = 1, .low = 2};

bool remembers(const SenderWindows& windows, PartyKind kind, const std::string& id) {
  const DedupWindow* window = windows.find(kind, id);
  return window != nullptr && window->find(kId, 0).verdict == DedupWindow::Verdict::same;
}

TEST(SenderWindows, KeepsSendersApartByKindAndId) {
  CountingResource memory;
  SenderWindows windows(memory);
  windows.get(PartyKind::agent, "x").add(kId, 0, 1, 1, 1);
  EXPECT_TRUE(remembers(windows, PartyKind::agent, "x"));
  EXPECT_FALSE(remembers(windows, PartyKind::agent, "y"));
  EXPECT_FALSE(remembers(windows, PartyKind::bot, "x"));
  EXPECT_FALSE(remembers(windows, PartyKind::visitor, "x"));
}

TEST(SenderWindows, DropsThoseOfWhoHasNotSentForLongestButNeverTheVisitors) {
  CountingResource memory;
  {
    SenderWindows windows(memory);
    windows.get(PartyKind::visitor, "v").add(kId, 0, 1, 1, 1);
    for (uint32_t i = 0; i < SenderWindows::kOthersMax; ++i) {
      windows.get(PartyKind::agent, "a" + std::to_string(i)).add(kId, 0, 1, 1, 1);
    }
    (void)windows.get(PartyKind::agent, "a0");  // sends again: a1 is the one silent for longest
    EXPECT_TRUE(remembers(windows, PartyKind::agent, "a1")) << "a look does not count";
    windows.get(PartyKind::agent, "late").add(kId, 0, 1, 1, 1);
    EXPECT_FALSE(remembers(windows, PartyKind::agent, "a1"));
    EXPECT_TRUE(remembers(windows, PartyKind::agent, "a0"));
    for (uint32_t i = 2; i < SenderWindows::kOthersMax; ++i) {
      EXPECT_TRUE(remembers(windows, PartyKind::agent, "a" + std::to_string(i)));
    }
    EXPECT_TRUE(remembers(windows, PartyKind::agent, "late"));
    EXPECT_TRUE(remembers(windows, PartyKind::visitor, "v"));
  }
  EXPECT_EQ(memory.bytes_in_use(), 0U);
}

TEST(SenderWindows, ACopyRemembersTheSameAndForgetsInTheSameOrder) {
  CountingResource memory;
  SenderWindows windows(memory);
  windows.get(PartyKind::visitor, "v").add(kId, 0, 1, 1, 1);
  for (uint32_t i = 0; i < SenderWindows::kOthersMax; ++i) {
    windows.get(PartyKind::agent, "a" + std::to_string(i)).add(kId, 0, 1, 1, 1);
  }
  SenderWindows copied(memory);
  copied.copy(windows);
  EXPECT_TRUE(remembers(copied, PartyKind::visitor, "v"));
  (void)copied.get(PartyKind::bot, "late");
  EXPECT_FALSE(remembers(copied, PartyKind::agent, "a0"));
  for (uint32_t i = 1; i < SenderWindows::kOthersMax; ++i) {
    EXPECT_TRUE(remembers(copied, PartyKind::agent, "a" + std::to_string(i)));
  }
  EXPECT_TRUE(remembers(windows, PartyKind::agent, "a0"));
}

}  // namespace
}  // namespace taut::chat
