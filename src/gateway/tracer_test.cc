#include "gateway/tracer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/clock.h"

namespace taut::gateway {
namespace {

class TracerTest : public testing::Test {
 protected:
  Tracer& make(uint32_t sample_every, uint32_t record = 0) {
    tracer_ = std::make_unique<Tracer>(clock, metrics,
                                       Tracer::Options{.sample_every = sample_every, .record = record});
    return *tracer_;
  }
  /// A frame that is understood at once.
  bool sampled(Tracer& tracer, bool is_message) {
    tracer.begin(clock.mono_ns());
    tracer.understood(is_message);
    return tracer.current().sampled;
  }
  /// To a receiver on the same shard, in a turn of its own.
  void deliver(Tracer& tracer) {
    ASSERT_TRUE(tracer.wants(tracer.current()));
    tracer.deliver(tracer.current(), "c", false, clock.mono_ns());
    tracer.begin_flush();
    tracer.end_flush();
  }
  static uint32_t at(const Trace& trace, Stage stage) { return trace.stage_ns[static_cast<size_t>(stage)]; }
  Trace slowest() {
    Trace found;
    for (const SlowestBoard::Minute& minute : metrics.slowest.minutes()) {
      if (minute.count > 0) found = minute.entries[0].trace;
    }
    return found;
  }

  ManualClock clock;
  GatewayMetrics metrics;

 private:
  std::unique_ptr<Tracer> tracer_;
};

TEST_F(TracerTest, SamplesOneMessageInNWhateverFramesStandBetweenThem) {
  Tracer& tracer = make(2);
  int messages = 0;
  for (int i = 0; i < 16; ++i) {
    const bool is_message = i % 2 == 0;
    const bool is_sampled = sampled(tracer, is_message);
    if (!is_message) {
      EXPECT_FALSE(is_sampled);
    }
    messages += is_sampled ? 1 : 0;
  }
  EXPECT_EQ(messages, 4);
}

TEST_F(TracerTest, AMessageThatIsNotSampledHasTurnRingAndWriteAndNoStageInTheMetrics) {
  Tracer& here = make(1'000);
  GatewayMetrics metrics_there;
  Tracer there(clock, metrics_there, {.sample_every = 1'000});
  const int64_t began_ns = clock.mono_ns();
  EXPECT_FALSE(sampled(here, true));
  clock.advance_ns(100);
  here.leave();
  const Trace on_its_way = here.current();
  clock.advance_ns(30);
  ASSERT_TRUE(there.wants(on_its_way));
  there.deliver(on_its_way, "c", true, clock.mono_ns());
  clock.advance_ns(7);
  there.begin_flush();
  there.end_flush();
  const auto minutes = metrics_there.slowest.minutes();
  const auto minute = std::ranges::find(minutes, 1U, &SlowestBoard::Minute::count);
  ASSERT_NE(minute, minutes.end());
  const Trace& trace = minute->entries[0].trace;
  EXPECT_EQ(trace.started_ns, began_ns);
  EXPECT_EQ(at(trace, Stage::turn), 100U);
  EXPECT_EQ(at(trace, Stage::ring), 30U);
  EXPECT_EQ(at(trace, Stage::write), 7U);
  EXPECT_EQ(trace.total_ns(), 137);
  EXPECT_EQ(metrics_there.message_ns.count(), 0U);
}

TEST_F(TracerTest, KeepsPerTurnTheUnsampledMessageThatBeganFirst) {
  Tracer& tracer = make(1'000);
  static_cast<void>(sampled(tracer, true));
  const Trace early = tracer.current();
  clock.advance_ns(10);
  static_cast<void>(sampled(tracer, true));
  const Trace late = tracer.current();
  tracer.deliver(late, "late", false, clock.mono_ns());
  ASSERT_TRUE(tracer.wants(early));
  tracer.deliver(early, "early", false, clock.mono_ns());
  EXPECT_FALSE(tracer.wants(late));
  clock.advance_ns(5);
  tracer.begin_flush();
  tracer.end_flush();
  EXPECT_EQ(slowest().started_ns, early.started_ns);
  EXPECT_EQ(slowest().total_ns(), 15);
}

TEST_F(TracerTest, RecordsTheLatestMessagesTheOldestFirst) {
  Tracer& tracer = make(1'000, 2);  // recording samples every message
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(sampled(tracer, true));
    deliver(tracer);
    clock.advance_ns(1'000);
  }
  std::string text;
  tracer.print_record(7, text);
  const std::string second = std::to_string(clock.mono_ns() - 2'000);
  const std::string third = std::to_string(clock.mono_ns() - 1'000);
  EXPECT_EQ(text, "7," + second + ",0,0,0,0,0,0,0\n7," + third + ",0,0,0,0,0,0,0\n");
}

}  // namespace
}  // namespace taut::gateway
