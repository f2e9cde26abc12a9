// Two shards that send one mail to and fro, for each strategy: what a message between shards costs when it is
// alone.
#include "core/shard.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "core/topology.h"

namespace taut {
namespace {

/// Sends each mail back until `rounds` came home, then stops both shards.
class Echo final : public ShardProgram {
 public:
  Echo(bool serves, uint64_t rounds) : rounds_left_(rounds), serves_(serves) {}
  void start(Shard& shard) override {
    shard_ = &shard;
    if (serves_) shard.send(1, Mail::of(1, rounds_left_));
  }
  void on_events(std::span<const PollEvent>) override {}
  void on_mail(ShardId from, std::span<const Mail> batch) override {
    for (const Mail& mail : batch) {
      if (serves_ && --rounds_left_ == 0) {
        done.store(true, std::memory_order_release);  // pairs with the acquire in round_trips()
        done.notify_one();
        return;
      }
      shard_->send(from, mail);
    }
  }
  void on_timer(Timer&) override {}
  void flush() override {}
  [[nodiscard]] bool has_work() const override { return false; }
  void continue_work() override {}
  void stop() override { stopped_ = true; }
  [[nodiscard]] bool stopped() const override { return stopped_; }

  std::atomic<bool> done{false};

 private:
  uint64_t rounds_left_;
  const bool serves_;
  bool stopped_ = false;
  Shard* shard_ = nullptr;
};

struct Member {
  Member(ShardId id, WaitOptions::Strategy strategy, Clock& clock, Mesh& mesh, const std::vector<int>& cpus)
      : poller(std::move(*make_epoll_poller())),
        log(id),
        shard({.id = id,
               .wait = {.strategy = strategy},
               .thread = {.pin_to_cpu = cpus[id % cpus.size()]},
               .pool = {.base_bytes = 0}},
              clock, *poller, mesh, log) {}
  std::unique_ptr<Poller> poller;
  LogRing log;
  Shard shard;
};

void BM_RoundTripBetweenShards(benchmark::State& state) {
  const auto strategy = static_cast<WaitOptions::Strategy>(state.range(0));
  const auto rounds = static_cast<uint64_t>(state.range(1));
  state.SetLabel(std::string(name_of(strategy)));
  SystemClock clock;
  int64_t took_ns = 0;
  for (auto _ : state) {
    Mesh mesh({.members = 2});
    const std::vector<int> cpus = Topology::read().placement(2);
    Member a(0, strategy, clock, mesh, cpus);
    Member b(1, strategy, clock, mesh, cpus);
    Echo ours(true, rounds);
    Echo theirs(false, 0);
    const int64_t start_ns = clock.mono_ns();
    std::thread second([&] { b.shard.run(theirs); });
    std::thread first([&] { a.shard.run(ours); });
    ours.done.wait(false, std::memory_order_acquire);  // pairs with the release in on_mail()
    took_ns += clock.mono_ns() - start_ns;
    a.shard.request_stop();
    b.shard.request_stop();
    first.join();
    second.join();
    state.counters["wakes"] = static_cast<double>(a.shard.metrics().wakes_sent.load());
  }
  state.counters["round_trip_ns"] =
      static_cast<double>(took_ns) / static_cast<double>(rounds) / static_cast<double>(state.iterations());
}
BENCHMARK(BM_RoundTripBetweenShards)
    ->ArgNames({"strategy", "rounds"})
    ->Args({static_cast<int>(WaitOptions::Strategy::adaptive), 5'000})
    ->Args({static_cast<int>(WaitOptions::Strategy::park), 5'000})
    ->Args({static_cast<int>(WaitOptions::Strategy::busy), 5'000})
    ->Args({static_cast<int>(WaitOptions::Strategy::spin_park), 5'000})
    ->Args({static_cast<int>(WaitOptions::Strategy::yield), 5'000})
    ->Args({static_cast<int>(WaitOptions::Strategy::dotnet), 500})
    ->Args({static_cast<int>(WaitOptions::Strategy::backoff), 500})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut
