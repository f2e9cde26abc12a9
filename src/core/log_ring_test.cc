#include "core/log_ring.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "core/allocation_counter.h"
#include "core/log_thread.h"

namespace taut {
namespace {

enum class Colour : uint8_t { red = 7 };

/// One ring and the lines that come out of it, without a thread.
class LogLines : public testing::Test {
 protected:
  std::vector<std::string> look(LogThread::Format format = LogThread::Format::text) {
    lines_.clear();
    LogThread thread(
        {.format = format, .sink = [this](LogLevel, std::string_view l) { lines_.emplace_back(l); }}, clock_,
        {&log_});
    thread.look();
    return lines_;
  }
  /// The one line, without its time.
  std::string message() {
    const auto lines = look();
    if (lines.size() != 1) return std::to_string(lines.size()) + " lines";
    return lines[0].substr(lines[0].find("shard"));
  }

  ManualClock clock_;
  LogRing log_{5, LogLevel::info, 8};
  std::vector<std::string> lines_;
};

TEST_F(LogLines, CarryEveryKindOfArgument) {
  log_.info("{} {} {} {}", -5, 18'000'000'000'000'000'000ULL, 2.5, true);
  EXPECT_EQ(message(), "shard 5: -5 18000000000000000000 2.5 true");
  log_.info("{} {} {} {:x}", 'c', Colour::red, int8_t{-1}, 255U);
  EXPECT_EQ(message(), "shard 5: c 7 -1 ff");
  const std::string id = "v1";
  log_.info("connection {} of {} closed: {}", 12U, id, "done");
  EXPECT_EQ(message(), "shard 5: connection 12 of v1 closed: done");
  log_.info("plain {{}}");
  EXPECT_EQ(message(), "shard 5: plain {}");
}

TEST_F(LogLines, CopyTextsSoThatTheirMemoryMayGo) {
  {
    std::string text = "short lived";
    log_.info("{}", text);
    text.assign(text.size(), 'x');
  }
  EXPECT_EQ(message(), "shard 5: short lived");
}

TEST_F(LogLines, CutTextsThatDoNotFitAndSaySo) {
  const std::string fits(LogRecord::kTextBytes, 'a');
  log_.info("{}", fits);
  EXPECT_EQ(message(), "shard 5: " + fits);
  log_.info("{}", fits + "b");
  EXPECT_EQ(message(), "shard 5: " + fits + "...");
  log_.info("{}|{}", std::string(70, 'a'), "bcde");
  EXPECT_EQ(message(), "shard 5: " + std::string(70, 'a') + "|bc...");
}

TEST_F(LogLines, CarryTheTimeOfTheProducerOrElseOfTheLook) {
  log_.set_wall_ms(1'700'000'000'123);
  log_.warn("x");
  EXPECT_EQ(look().at(0), "2023-11-14T22:13:20.123Z warn  shard 5: x");
  log_.set_wall_ms(0);
  log_.warn("x");
  clock_.advance_ns(5'000'000'000);
  EXPECT_EQ(look().at(0), "2023-11-14T22:13:26.000Z warn  shard 5: x");
}

TEST_F(LogLines, AreJsonWhenAskedWhateverTheTextHolds) {
  log_.set_wall_ms(1'700'000'000'123);
  log_.error("say \"{}\"", "a\\b\n");
  EXPECT_EQ(
      look(LogThread::Format::json).at(0),
      R"({"time":"2023-11-14T22:13:20.123Z","level":"error","shard":5,"message":"say \"a\\b\u000a\""})");
}

TEST_F(LogLines, NeverBreakBecauseOfWhatAClientSent) {
  log_.info("reason {}", "x\r\n2023 error shard 0: forged \x1b[2J");
  EXPECT_EQ(message(), "shard 5: reason x\\u000d\\u000a2023 error shard 0: forged \\u001b[2J");
}

TEST_F(LogLines, FollowTheLevel) {
  log_.debug("no");
  EXPECT_EQ(look().size(), 0u);
  log_.set_level(LogLevel::debug);
  log_.debug("yes");
  EXPECT_EQ(look().size(), 1u);
  log_.set_level(LogLevel::off);
  log_.error("no");
  EXPECT_EQ(look().size(), 0u);
}

TEST_F(LogLines, SayTheFormatWhenItDoesNotSuitItsArguments) {
  log_.info("{:d}", "text");
  EXPECT_EQ(message(), "shard 5: {:d}");
}

TEST_F(LogLines, SayWhatWasDropped) {
  for (int i = 0; i < 11; ++i) log_.info("{}", i);
  EXPECT_EQ(log_.dropped(), 3u);
  const auto lines = look();
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_TRUE(lines[7].ends_with("shard 5: 7"));
  EXPECT_TRUE(lines[8].ends_with("3 log records dropped, the ring was full"));
  log_.info("again");
  EXPECT_TRUE(look().at(0).ends_with("again"));
}

TEST_F(LogLines, CostNoAllocation) {
  if (!allocation_counter_available()) GTEST_SKIP();
  const std::string long_text(500, 'x');
  const uint64_t before = allocations_this_thread();
  for (int i = 0; i < 20; ++i) log_.info("{} {} {}", i, long_text, 2.5);
  EXPECT_EQ(allocations_this_thread(), before);
}

TEST(LogThread, LosesNothingItDoesNotCountAndKeepsTheOrder) {
  SystemClock clock;
  LogRing a(0, LogLevel::info, 64);
  LogRing b(1, LogLevel::info, 64);
  std::vector<std::string> lines;
  LogThread log({.sink = [&](LogLevel, std::string_view line) { lines.emplace_back(line); }}, clock,
                {&a, &b});
  log.start();
  constexpr int kEach = 20'000;
  const auto produce = [](LogRing& ring) {
    for (int i = 0; i < kEach; ++i) ring.info("number {}", i);
  };
  std::thread first([&] { produce(a); });
  std::thread second([&] { produce(b); });
  first.join();
  second.join();
  log.stop();
  int last[2] = {-1, -1};
  uint64_t seen = 0;
  for (const std::string& line : lines) {
    const size_t at = line.find("number ");
    if (at == std::string::npos) continue;
    const size_t shard = line.find("shard 0") != std::string::npos ? 0 : 1;
    const int number = std::stoi(line.substr(at + 7));
    EXPECT_GT(number, last[shard]);
    last[shard] = number;
    ++seen;
  }
  EXPECT_EQ(seen + a.dropped() + b.dropped(), 2u * kEach);
}

TEST(LogThread, SaysTheLastRecordsAtStop) {
  SystemClock clock;
  LogRing ring;
  std::vector<std::string> lines;
  LogThread log({.sink = [&](LogLevel, std::string_view line) { lines.emplace_back(line); }}, clock, {&ring});
  log.start();
  ring.info("goodbye");
  log.stop();
  log.stop();
  ASSERT_EQ(lines.size(), 1u);
}

TEST(LogThread, WritesToStandardErrorUnlessToldOtherwise) {
  SystemClock clock;
  LogRing ring;
  ring.info("hello {}", 1);
  testing::internal::CaptureStderr();
  {
    LogThread log({}, clock, {&ring});
    log.look();
  }
  const std::string out = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(out.ends_with("info  shard 0: hello 1\n")) << out;
}

}  // namespace
}  // namespace taut
