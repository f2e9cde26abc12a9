// The engine in a program of its own: main throws a ball to a shard through a queue, two shards play it to
// and fro.
#include <taut/base/clock.h>
#include <taut/core/mpsc_queue.h>
#include <taut/core/shard.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <thread>

namespace {

constexpr uint32_t kBall = 1;

/// A mail says how many throws are left; whoever gets the last one ends the game for both.
struct Ball {
  uint64_t throws_left = 0;
};

class Player final : public taut::ShardProgram {
 public:
  Player(taut::MpscQueue<Ball>& thrown_in, taut::Shard& other) : thrown_in_(thrown_in), other_(other) {}

  void start(taut::Shard& shard) override { shard_ = &shard; }
  void on_mail(taut::ShardId, std::span<const taut::Mail> batch) override {
    for (const taut::Mail& mail : batch) play(mail.as<Ball>());
  }
  // A queue is not one of the shard's own sources: after a wake the program looks for itself.
  [[nodiscard]] bool has_work() const override { return !thrown_in_.empty(); }
  void continue_work() override {
    for (Ball ball; thrown_in_.try_pop(ball);) play(ball);
  }
  void on_events(std::span<const taut::PollEvent>) override {}
  void on_timer(taut::Timer&) override {}
  void flush() override {}
  void stop() override { stopped_ = true; }
  [[nodiscard]] bool stopped() const override { return stopped_; }

  uint64_t caught = 0;

 private:
  void play(Ball ball) {
    ++caught;
    if (ball.throws_left == 0) {
      shard_->request_stop();
      other_.request_stop();
      return;
    }
    shard_->send(1 - shard_->id(), taut::Mail::of(kBall, Ball{ball.throws_left - 1}));
  }

  taut::MpscQueue<Ball>& thrown_in_;
  taut::Shard& other_;
  taut::Shard* shard_ = nullptr;
  bool stopped_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const uint64_t throws = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
  taut::SystemClock clock;
  taut::Mesh mesh({.members = 2});
  taut::MpscQueue<Ball> queues[2] = {taut::MpscQueue<Ball>(4), taut::MpscQueue<Ball>(4)};
  std::unique_ptr<taut::Poller> pollers[2];
  std::unique_ptr<taut::LogRing> logs[2];
  std::unique_ptr<taut::Shard> shards[2];
  for (taut::ShardId id = 0; id < 2; ++id) {
    auto poller = taut::make_epoll_poller();
    if (!poller) {
      std::fprintf(stderr, "two_shards: %s\n", poller.error().message.c_str());
      return 1;
    }
    pollers[id] = *std::move(poller);
    logs[id] = std::make_unique<taut::LogRing>(id);
    shards[id] =
        std::make_unique<taut::Shard>(taut::Shard::Options{.id = id}, clock, *pollers[id], mesh, *logs[id]);
  }
  Player players[2] = {{queues[0], *shards[1]}, {queues[1], *shards[0]}};

  const int64_t start_ns = clock.mono_ns();
  std::thread second([&] { shards[1]->run(players[1]); });
  std::thread first([&] { shards[0]->run(players[0]); });
  // What any thread does that is no shard: push, fence, ring.
  if (!queues[0].try_push(Ball{throws})) return 1;
  taut::publish_fence();
  mesh.doorbell(0).ring();
  first.join();
  second.join();

  const double ns = static_cast<double>(clock.mono_ns() - start_ns) / static_cast<double>(throws + 1);
  std::printf("%llu throws caught, %.0f ns each\n",
              static_cast<unsigned long long>(players[0].caught + players[1].caught), ns);
  return 0;
}
