// Shards on threads that park as often as they can while mail keeps hopping between them: not one may be
// lost, and none may wait in a ring whose reader sleeps.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/shard.h"

namespace taut {
namespace {

TEST(Mesh, RingsOfManyMembersStayWithinSomeMegabytes) {
  EXPECT_EQ(Mesh::ring_capacity_for(2), 1024U);
  EXPECT_EQ(Mesh::ring_capacity_for(32), 1024U);
  EXPECT_EQ(Mesh::ring_capacity_for(33), 512U);
  EXPECT_EQ(Mesh::ring_capacity_for(Mesh::kMembersMax), 64U);
}

struct Token {
  uint32_t number = 0;
  uint32_t hops_left = 0;
};

/// Sends every token on to a shard drawn at random until its hops are used up.
class Hopper final : public ShardProgram {
 public:
  Hopper(uint32_t seed, uint32_t tokens, uint32_t hops, std::atomic<uint64_t>& finished)
      : random_(seed), tokens_(tokens), hops_(hops), finished_(finished) {}

  void start(Shard& shard) override {
    shard_ = &shard;
    for (uint32_t i = 0; i < tokens_; ++i) hop({.number = i, .hops_left = hops_});
  }
  void on_events(std::span<const PollEvent>) override {}
  void on_mail(ShardId, std::span<const Mail> batch) override {
    for (const Mail& mail : batch) hop(mail.as<Token>());
  }
  void on_timer(Timer&) override {}
  void flush() override {}
  [[nodiscard]] bool has_work() const override { return false; }
  void continue_work() override {}
  void stop() override { stopped_ = true; }
  [[nodiscard]] bool stopped() const override { return stopped_; }

 private:
  void hop(Token token) {
    if (token.hops_left == 0) {
      finished_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    --token.hops_left;
    shard_->send(static_cast<ShardId>(random_() % shard_->shards()), Mail::of(1, token));
  }

  std::mt19937 random_;
  const uint32_t tokens_;
  const uint32_t hops_;
  std::atomic<uint64_t>& finished_;
  Shard* shard_ = nullptr;
  bool stopped_ = false;
};

struct Plan {
  std::string name;
  WaitOptions::Strategy strategy;
  uint32_t shards;
  uint32_t ring_capacity;
  uint32_t tokens;
  uint32_t hops;
};

class MeshStress : public testing::TestWithParam<Plan> {};

INSTANTIATE_TEST_SUITE_P(
    Mesh, MeshStress,
    testing::Values(Plan{"OneTokenPark", WaitOptions::Strategy::park, 2, 2, 1, 3'000},
                    Plan{"OneTokenAdaptive", WaitOptions::Strategy::adaptive, 2, 2, 1, 3'000},
                    Plan{"FewTokensPark", WaitOptions::Strategy::park, 3, 4, 3, 3'000},
                    Plan{"FewTokensAdaptive", WaitOptions::Strategy::adaptive, 3, 4, 3, 3'000},
                    Plan{"FewTokensSpinPark", WaitOptions::Strategy::spin_park, 3, 4, 3, 3'000},
                    Plan{"FewTokensYield", WaitOptions::Strategy::yield, 3, 4, 3, 1'000},
                    Plan{"FewTokensDotnet", WaitOptions::Strategy::dotnet, 3, 4, 3, 200},
                    Plan{"FewTokensBackoff", WaitOptions::Strategy::backoff, 3, 4, 3, 200},
                    Plan{"OverflowingPark", WaitOptions::Strategy::park, 3, 2, 200, 100},
                    Plan{"OverflowingAdaptive", WaitOptions::Strategy::adaptive, 3, 2, 200, 100}),
    [](const auto& made) { return made.param.name; });

TEST_P(MeshStress, EveryTokenArrives) {
  const Plan& plan = GetParam();
  const uint64_t expected = uint64_t{plan.shards} * plan.tokens;
  SystemClock clock;
  std::atomic<uint64_t> finished{0};
  Mesh mesh({.members = plan.shards, .ring_capacity = plan.ring_capacity});
  std::vector<std::unique_ptr<Poller>> pollers;
  std::vector<std::unique_ptr<LogRing>> logs;
  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<std::unique_ptr<Hopper>> programs;
  for (uint32_t id = 0; id < plan.shards; ++id) {
    pollers.push_back(std::move(*make_epoll_poller()));
    logs.push_back(std::make_unique<LogRing>(id));
    programs.push_back(std::make_unique<Hopper>(id + 1, plan.tokens, plan.hops, finished));
    const Shard::Options options{.id = id, .wait = {.strategy = plan.strategy}, .pool = {.base_bytes = 0}};
    shards.push_back(std::make_unique<Shard>(options, clock, *pollers[id], mesh, *logs[id]));
  }
  std::vector<std::thread> threads;
  threads.reserve(plan.shards);
  for (uint32_t id = 0; id < plan.shards; ++id) {
    threads.emplace_back([&, id] { shards[id]->run(*programs[id]); });
  }
  // A lost wake-up would leave everybody asleep: no shard's counter moves any more. A slow machine moves
  // slowly.
  constexpr int kStandstillsMax = 100;  // of 100 ms
  uint64_t last_moved = 0;
  for (int standstills = 0; finished.load() < expected && standstills < kStandstillsMax; ++standstills) {
    std::this_thread::sleep_for(std::chrono::milliseconds(finished.load() == 0 ? 5 : 1));
    uint64_t moved = 0;
    for (const auto& shard : shards) moved += shard->metrics().mails_received.load();
    if (moved != last_moved) standstills = 0;
    last_moved = moved;
    if (standstills > 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(finished.load(), expected);
  for (const auto& shard : shards) shard->request_stop();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace taut
