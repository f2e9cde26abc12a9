#include "core/shard.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <functional>
#include <thread>
#include <vector>

#include "core/allocation_counter.h"
#include "core/mail_fifo.h"

namespace taut {
namespace {

/// A program that remembers what it was told and does what the test wants.
class Recorder final : public ShardProgram {
 public:
  void start(Shard& a_shard) override {
    shard = &a_shard;
    if (on_start) on_start();
  }
  void on_events(std::span<const PollEvent> events) override {
    for (const PollEvent& event : events) tokens.push_back(event.token);
  }
  void on_mail(ShardId from, std::span<const Mail> batch) override {
    for (const Mail& mail : batch) {
      received.emplace_back(from, mail.kind);
      if (handle) handle(from, mail);
    }
  }
  void on_timer(Timer& timer) override { timers.push_back(timer.kind); }
  void flush() override {
    ++flushes;
    if (at_flush) at_flush();
  }
  [[nodiscard]] bool has_work() const override { return work > 0; }
  void continue_work() override { --work; }
  void stop() override { stop_seen = true; }
  [[nodiscard]] bool stopped() const override { return stop_seen && !refuse_to_stop; }

  Shard* shard = nullptr;
  std::function<void()> on_start;
  std::function<void(ShardId, const Mail&)> handle;
  std::function<void()> at_flush;
  std::vector<uint64_t> tokens;
  std::vector<std::pair<ShardId, uint32_t>> received;
  std::vector<uint32_t> timers;
  int flushes = 0;
  int work = 0;
  bool stop_seen = false;
  bool refuse_to_stop = false;
};

Mail numbered(uint32_t number) {
  return Mail::of(number, uint64_t{number});
}

/// A shard with all it needs.
struct Member {
  Member(ShardId id, Mesh& mesh, Clock& clock, const WaitOptions& wait = {},
         int64_t stop_within_ns = 4'000'000'000)
      : poller(std::move(*make_epoll_poller())),
        log(id),
        shard({.id = id, .wait = wait, .stop_within_ns = stop_within_ns, .pool = {.base_bytes = 0}}, clock,
              *poller, mesh, log) {}
  bool turn() { return shard.turn(program); }

  std::unique_ptr<Poller> poller;
  LogRing log;
  Recorder program;
  Shard shard;
};

/// Two shards that the test turns by hand, on its own thread and under its own clock.
class TwoShards : public testing::Test {
 protected:
  TwoShards() {
    a.shard.begin(a.program);
    b.shard.begin(b.program);
  }
  ManualClock clock;
  Mesh mesh{{.members = 2, .ring_capacity = 4}};
  Member a{0, mesh, clock};
  Member b{1, mesh, clock};
};

using Received = std::vector<std::pair<ShardId, uint32_t>>;

TEST_F(TwoShards, MailLeavesAtTheEndOfTheTurnAndArrivesInOrder) {
  a.shard.send(1, numbered(1));
  a.shard.send(1, numbered(2));
  EXPECT_FALSE(b.turn());
  a.turn();
  EXPECT_TRUE(b.turn());
  EXPECT_EQ(b.program.received, (Received{{0, 1}, {0, 2}}));
}

TEST_F(TwoShards, MailToOneselfArrivesInTheNextTurn) {
  a.program.handle = [this](ShardId, const Mail& mail) {
    if (mail.kind < 3) a.shard.send(0, numbered(mail.kind + 1));
  };
  a.shard.send(0, numbered(1));
  EXPECT_TRUE(a.turn());
  EXPECT_EQ(a.program.received.size(), 1U);
  EXPECT_TRUE(a.turn());
  EXPECT_TRUE(a.turn());
  EXPECT_FALSE(a.turn());
  EXPECT_EQ(a.program.received, (Received{{0, 1}, {0, 2}, {0, 3}}));
}

TEST_F(TwoShards, MailSentWhileFlushingStillLeavesInThatTurn) {
  a.program.at_flush = [this] { a.shard.send(1, numbered(7)); };
  a.shard.send(0, numbered(1));
  ASSERT_TRUE(a.turn());
  b.turn();
  EXPECT_EQ(b.program.received, (Received{{0, 7}}));
}

TEST_F(TwoShards, AFullRingOverflowsInOrderAndLosesNothing) {
  for (uint32_t i = 0; i < 100; ++i) a.shard.send(1, numbered(i));
  EXPECT_TRUE(a.shard.congested());
  EXPECT_EQ(a.shard.metrics().overflow_now.load(), 96U);
  for (int i = 0; i < 200 && b.program.received.size() < 100; ++i) {
    a.turn();
    b.turn();
  }
  ASSERT_EQ(b.program.received.size(), 100U);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(b.program.received[i].second, i);
  EXPECT_FALSE(a.shard.congested());
  EXPECT_EQ(a.shard.metrics().overflow_now.load(), 0U);
  EXPECT_EQ(a.shard.metrics().overflow_max.load(), 96U);
}

TEST_F(TwoShards, WhileCongestedMailIsReadAndSocketsAreNot) {
  const int fd = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
  ASSERT_TRUE(a.shard.poller().add(fd, Interest::read, 42));
  for (uint32_t i = 0; i < 5; ++i) a.shard.send(1, numbered(i));
  ASSERT_TRUE(a.shard.congested());
  b.shard.send(0, numbered(9));
  b.shard.turn(b.program);  // publishes; takes nothing, as a has not published
  a.turn();
  EXPECT_EQ(a.program.received, (Received{{1, 9}}));
  EXPECT_TRUE(a.program.tokens.empty());
  while (a.shard.congested()) {
    b.turn();
    a.turn();
  }
  a.turn();
  EXPECT_EQ(a.program.tokens.front(), 42U);
  a.shard.poller().remove(fd);
  close(fd);
}

TEST_F(TwoShards, TimersFireWhenTheirTimeHasCome) {
  Timer timer(5, 0);
  a.shard.timers().arm(timer, clock.mono_ns() + 1'000'000);
  EXPECT_FALSE(a.turn());
  clock.advance_ns(2'000'000);
  EXPECT_TRUE(a.turn());
  EXPECT_EQ(a.program.timers, (std::vector<uint32_t>{5}));
  EXPECT_EQ(a.shard.now_ns(), clock.mono_ns());
}

TEST_F(TwoShards, UnfinishedWorkIsContinuedEveryTurn) {
  a.program.work = 3;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(a.turn());
  EXPECT_FALSE(a.turn());
  EXPECT_EQ(a.program.flushes, 3);
}

TEST_F(TwoShards, FlushesOnlyAfterSomethingHappened) {
  for (int i = 0; i < 5; ++i) a.turn();
  EXPECT_EQ(a.program.flushes, 0);
  EXPECT_EQ(a.shard.metrics().turns.load(), 0U);
}

TEST_F(TwoShards, WakesNobodyWhoIsAwake) {
  a.shard.send(1, numbered(1));
  a.turn();
  EXPECT_EQ(a.shard.metrics().wakes_sent.load(), 0U);
  EXPECT_EQ(a.shard.metrics().wakes_avoided.load(), 1U);
}

TEST_F(TwoShards, StopIsToldOnce) {
  a.shard.request_stop();
  EXPECT_TRUE(a.turn());
  EXPECT_TRUE(a.program.stop_seen);
  a.program.stop_seen = false;
  a.turn();
  EXPECT_FALSE(a.program.stop_seen);
}

TEST_F(TwoShards, AllocateNothingPerMailOnceWarm) {
  if (!allocation_counter_available()) GTEST_SKIP() << "the sanitizer owns malloc";
  const auto round = [this] {
    for (uint32_t i = 0; i < 4; ++i) a.shard.send(1, numbered(i));
    for (uint32_t i = 0; i < 4; ++i) a.shard.send(0, numbered(i));
    a.turn();
    b.turn();
  };
  a.program.received.reserve(10'000);
  b.program.received.reserve(10'000);
  round();
  const uint64_t before = allocations_this_thread();
  for (int i = 0; i < 1'000; ++i) round();
  EXPECT_EQ(allocations_this_thread(), before);
  EXPECT_EQ(b.program.received.size(), 4'004U);
}

TEST(MailFifo, KeepsOrderWhileItGrowsAcrossItsEnd) {
  MailFifo fifo(1U << 12);
  uint32_t pushed = 0;
  uint32_t taken = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 37; ++i) fifo.push(numbered(pushed++));
    const auto front = fifo.front(11);
    for (const Mail& mail : front) ASSERT_EQ(mail.kind, taken++);
    fifo.consume(static_cast<uint32_t>(front.size()));
  }
  while (!fifo.empty()) {
    const auto front = fifo.front(32);
    for (const Mail& mail : front) ASSERT_EQ(mail.kind, taken++);
    fifo.consume(static_cast<uint32_t>(front.size()));
  }
  EXPECT_EQ(taken, pushed);
}

TEST(MailFifoDeathTest, EndsTheProcessBeyondItsLimit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        MailFifo fifo(4);
        for (uint32_t i = 0; i < 5; ++i) fifo.push(numbered(i));
      },
      "size_ < limit_");
}

// -- on threads of their own --

class EveryStrategy : public testing::TestWithParam<size_t> {
 protected:
  WaitOptions wait{.strategy = static_cast<WaitOptions::Strategy>(GetParam())};
  SystemClock clock;
};
INSTANTIATE_TEST_SUITE_P(Wait, EveryStrategy, testing::Range(size_t{0}, WaitOptions::kNames.size()),
                         [](const auto& made) { return std::string(WaitOptions::kNames[made.param]); });

TEST_P(EveryStrategy, EndsWithin100MsWhenAskedToStopWhileIdle) {
  constexpr int64_t kWithinNs = 100'000'000;
  constexpr int kTries = 5;  // a machine that others use as well may be late once
  int64_t took_ns = INT64_MAX;
  for (int i = 0; i < kTries && took_ns > kWithinNs; ++i) {
    Mesh mesh({.members = 1});
    Member member(0, mesh, clock, wait);
    std::thread thread([&] { member.shard.run(member.program); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const int64_t asked_ns = clock.mono_ns();
    member.shard.request_stop();
    thread.join();
    took_ns = clock.mono_ns() - asked_ns;
    EXPECT_TRUE(member.program.stop_seen);
  }
  EXPECT_LE(took_ns, kWithinNs);
}

TEST_P(EveryStrategy, CountsHowItWaits) {
  using Strategy = WaitOptions::Strategy;
  Mesh mesh({.members = 1});
  Member member(0, mesh, clock, wait);
  const ShardMetrics& metrics = member.shard.metrics();
  std::thread thread([&] { member.shard.run(member.program); });
  const auto parks = [&] { return metrics.parks.load() > 0; };
  const auto yields = [&] { return metrics.yields.load() > 0; };
  const auto sleeps = [&] { return metrics.sleeps.load() > 0; };
  const auto looks = [&] { return metrics.polls.load() > 0; };
  const auto waited = [&] {
    switch (wait.strategy) {
      case Strategy::busy:
        return looks();
      case Strategy::yield:
        return yields();
      case Strategy::dotnet:
      case Strategy::backoff:
        return yields() && sleeps();
      default:
        return parks();
    }
  };
  for (int i = 0; i < 5'000 && !waited(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (i == 100) member.shard.poller().wake();  // a park is counted when it ends
  }
  member.shard.request_stop();
  thread.join();
  EXPECT_TRUE(waited());
  if (wait.strategy == Strategy::busy || yields()) {
    EXPECT_FALSE(parks());
  }
}

TEST_P(EveryStrategy, EndsWithinItsTimeThoughTheProgramRefuses) {
  Mesh mesh({.members = 1});
  Member member(0, mesh, clock, wait, 20'000'000);
  member.program.refuse_to_stop = true;
  std::thread thread([&] { member.shard.run(member.program); });
  member.shard.request_stop();
  thread.join();
  EXPECT_FALSE(member.program.stopped());
}

TEST_P(EveryStrategy, SeesSocketsTimersAndMailWhileWaiting) {
  Mesh mesh({.members = 2});
  Member member(0, mesh, clock, wait);
  Member other(1, mesh, clock, wait);
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Timer timer(5, 0);
  bool sent = false;
  // Timer, then socket, then mail, then the end: each waits for the one before.
  member.program.on_start = [&] {
    ASSERT_TRUE(member.shard.poller().add(fd, Interest::read, 1));
    member.shard.timers().arm(timer, member.shard.now_ns() + 5'000'000);
  };
  member.program.at_flush = [&] {
    if (member.program.timers.size() == 1 && member.program.tokens.empty()) {
      const uint64_t one = 1;
      ASSERT_EQ(write(fd, &one, sizeof(one)), 8);
    } else if (member.program.tokens.size() == 1 && !sent) {
      sent = true;
      member.shard.poller().remove(fd);
      member.shard.send(1, numbered(1));
    }
  };
  other.program.handle = [&](ShardId, const Mail&) {
    other.shard.request_stop();
    member.shard.request_stop();
  };
  std::thread first([&] { member.shard.run(member.program); });
  std::thread second([&] { other.shard.run(other.program); });
  first.join();
  second.join();
  EXPECT_EQ(other.program.received, (Received{{0, 1}}));
  close(fd);
}

TEST(Shard, StaysParkedWhileNothingHappens) {
  SystemClock clock;
  for (const auto strategy :
       {WaitOptions::Strategy::adaptive, WaitOptions::Strategy::park, WaitOptions::Strategy::spin_park}) {
    Mesh mesh({.members = 1});
    Member member(0, mesh, clock, {.strategy = strategy});
    std::thread thread([&] { member.shard.run(member.program); });
    // Every wait in the kernel counts as a poll when it ends; the first look after the start is one.
    while (member.shard.metrics().spin_ns.load() == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const uint64_t before = member.shard.metrics().polls.load();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_LE(member.shard.metrics().polls.load() - before, 6U) << name_of(strategy);  // 20 wakes a second
    member.shard.request_stop();
    thread.join();
  }
}

}  // namespace
}  // namespace taut
