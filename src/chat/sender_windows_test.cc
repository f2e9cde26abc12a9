#include "chat/sender_windows.h"

#include <gtest/gtest.h>

#include <string>

#include "chat/counting_resource.h"

namespace taut::chat {
namespace {

constexpr IdHash kId{.high = 1, .low = 2};

bool remembers(SenderWindows& windows, PartyKind kind, const std::string& id) {
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

TEST(SenderWindows, DropsTheLeastRecentlyUsedButNeverTheVisitors) {
  CountingResource memory;
  {
    SenderWindows windows(memory);
    windows.get(PartyKind::visitor, "v").add(kId, 0, 1, 1, 1);
    for (uint32_t i = 0; i < SenderWindows::kOthersMax; ++i) {
      windows.get(PartyKind::agent, "a" + std::to_string(i)).add(kId, 0, 1, 1, 1);
    }
    EXPECT_TRUE(remembers(windows, PartyKind::agent, "a0"));  // used: a1 is the oldest now
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

}  // namespace
}  // namespace taut::chat
