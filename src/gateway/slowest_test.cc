#include "gateway/slowest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace taut::gateway {
namespace {

constexpr int64_t kMinuteNs = 60'000'000'000;

/// One that took `total_ns`, all of it in one stage.
Trace took(int64_t total_ns, Stage stage = Stage::ring) {
  Trace trace{.started_ns = 1, .last_ns = 1, .seq = static_cast<uint64_t>(total_ns)};
  trace.lap(stage, 1 + total_ns);
  return trace;
}

void add(SlowestBoard& board, int64_t total_ns, int64_t now_ns) {
  if (board.wants(total_ns, now_ns)) board.add(took(total_ns), "c", now_ns);
}

TEST(SlowestBoard, KeepsTheSlowestOfAMinuteTheSlowestFirst) {
  SlowestBoard board;
  for (const int64_t total_ns : {5, 1, 9, 3, 7, 2, 8, 4, 6, 11, 10}) add(board, total_ns, kMinuteNs);
  const auto minutes = board.minutes();
  const auto minute = std::ranges::find(minutes, kMinuteNs, &SlowestBoard::Minute::begin_ns);
  ASSERT_NE(minute, minutes.end());
  ASSERT_EQ(minute->count, SlowestBoard::kPerMinute);
  for (size_t i = 0; i < minute->count; ++i) {
    EXPECT_EQ(minute->entries[i].trace.total_ns(), 11 - static_cast<int64_t>(i));
  }
}

TEST(SlowestBoard, WantsWhatIsSlowerThanItsLastOrOpensAMinute) {
  SlowestBoard board;
  for (int64_t i = 1; i <= 8; ++i) add(board, i * 10, kMinuteNs);
  EXPECT_FALSE(board.wants(10, kMinuteNs));
  EXPECT_TRUE(board.wants(11, kMinuteNs));
  EXPECT_FALSE(board.wants(1, 2 * kMinuteNs - 1));
  EXPECT_TRUE(board.wants(1, 2 * kMinuteNs));
}

TEST(SlowestBoard, ForgetsTheOldestMinuteThatHadMessages) {
  SlowestBoard board;
  for (const int64_t minute : {1, 2, 50, 51, 52, 53}) add(board, minute, minute * kMinuteNs);
  std::vector<int64_t> begins;
  for (const SlowestBoard::Minute& minute : board.minutes()) begins.push_back(minute.begin_ns / kMinuteNs);
  std::ranges::sort(begins);
  EXPECT_EQ(begins, (std::vector<int64_t>{2, 50, 51, 52, 53}));
}

TEST(SlowestPage, MergesTheShardsMinuteByMinute) {
  const auto one = std::make_unique<SlowestBoard>();
  const auto two = std::make_unique<SlowestBoard>();
  one->add(took(2'000), "c1", kMinuteNs);
  two->add(took(5'000, Stage::write), "c2", kMinuteNs + 7);
  two->add(took(1'000), "c3", 2 * kMinuteNs);
  const std::array<const SlowestBoard*, 2> boards{one.get(), two.get()};
  EXPECT_EQ(slowest_page(boards, 1'000'000, 3 * kMinuteNs),
            R"({"minutes":[{"begin_ms":940000,"messages":[)"
            R"({"total_us":1.0,"blame":"ring","conversation":"c3","seq":1000,"stages_us":{"ring":1.0}}]},)"
            R"({"begin_ms":880000,"messages":[)"
            R"({"total_us":5.0,"blame":"write","conversation":"c2","seq":5000,"stages_us":{"write":5.0}},)"
            R"({"total_us":2.0,"blame":"ring","conversation":"c1","seq":2000,"stages_us":{"ring":2.0}}]}]})"
            "\n");
}

TEST(SlowestPage, IsAnEmptyListBeforeTheFirstMessage) {
  const auto board = std::make_unique<SlowestBoard>();
  const std::array<const SlowestBoard*, 1> boards{board.get()};
  EXPECT_EQ(slowest_page(boards, 0, 0), "{\"minutes\":[]}\n");
}

}  // namespace
}  // namespace taut::gateway
