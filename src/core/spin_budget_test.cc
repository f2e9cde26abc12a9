#include "core/spin_budget.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace taut {
namespace {

constexpr int64_t kCostNs = 25'000;

void teach_cost(SpinBudget& budget, int64_t cost_ns) {
  for (int i = 0; i < 15; ++i) budget.record_wake_cost(cost_ns);
}

/// Exponential gaps: messages that arrive at random at a mean rate.
void feed_random(SpinBudget& budget, double mean_ns, int count, uint32_t seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> gap(1.0 / mean_ns);
  for (int i = 0; i < count; ++i) budget.record_gap(static_cast<int64_t>(gap(random)));
}

TEST(SpinBudget, BeginsWithOneWakeCost) {
  EXPECT_EQ(SpinBudget{}.budget_ns(), SpinBudget::kWakeCostNsAssumed);
}

TEST(SpinBudget, ParksAtOnceWhenGapsAreLong) {
  SpinBudget budget;
  teach_cost(budget, kCostNs);
  for (int i = 0; i < 256; ++i) budget.record_gap(1'000'000);  // 1,000 messages a second, evenly
  EXPECT_EQ(budget.budget_ns(), 0);
}

TEST(SpinBudget, SpinsThroughGapsThatAreShorterThanAWake) {
  SpinBudget budget;
  teach_cost(budget, kCostNs);
  for (int i = 0; i < 256; ++i) budget.record_gap(10'000);
  EXPECT_GE(budget.budget_ns(), 10'000);
}

TEST(SpinBudget, SpinsAtTwentyThousandRandomMessagesASecond) {
  SpinBudget budget;
  teach_cost(budget, kCostNs);
  feed_random(budget, 50'000, 1024, 1);
  EXPECT_EQ(budget.budget_ns(), SpinBudget::kWakeCostsMax * kCostNs);
}

TEST(SpinBudget, ParksAtAThousandRandomMessagesASecond) {
  SpinBudget budget;
  teach_cost(budget, kCostNs);
  feed_random(budget, 1'000'000, 1024, 2);
  // Short gaps of the distribution may be worth a little; long spinning is not.
  EXPECT_LE(budget.budget_ns(), kCostNs / 4);
}

TEST(SpinBudget, SpinsForTheBurstAndNotForThePauseAfterIt) {
  SpinBudget budget;
  teach_cost(budget, kCostNs);
  for (int i = 0; i < 256; ++i) budget.record_gap(i % 8 == 0 ? 10'000'000 : 3'000);
  EXPECT_GE(budget.budget_ns(), 3'000);
  EXPECT_LE(budget.budget_ns(), 2 * 4'096);
}

TEST(SpinBudget, ForgetsAnOldRateWithinAFewChoices) {
  SpinBudget budget;
  teach_cost(budget, kCostNs);
  for (int i = 0; i < 10 * 256; ++i) budget.record_gap(10'000);
  ASSERT_GT(budget.budget_ns(), 0);
  for (int i = 0; i < 4 * 256; ++i) budget.record_gap(2'000'000);
  EXPECT_EQ(budget.budget_ns(), 0);
}

TEST(SpinBudget, ChoosesOnlyEvery256IdlePeriods) {
  SpinBudget budget;
  teach_cost(budget, kCostNs);
  const int64_t before_ns = budget.budget_ns();
  for (int i = 0; i < 255; ++i) budget.record_gap(1'000'000);
  EXPECT_EQ(budget.budget_ns(), before_ns);
  budget.record_gap(1'000'000);
  EXPECT_EQ(budget.budget_ns(), 0);
}

TEST(SpinBudget, NeverExceedsFourWakeCostsWhateverItSees) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    SpinBudget budget;
    teach_cost(budget, 1'000 + static_cast<int64_t>(random() % 100'000));
    for (int i = 0; i < 512; ++i) budget.record_gap(static_cast<int64_t>(random() >> (random() % 63)));
    ASSERT_GE(budget.budget_ns(), 0);
    ASSERT_LE(budget.budget_ns(), SpinBudget::kWakeCostsMax * budget.wake_cost_ns());
  }
}

TEST(SpinBudget, IsNearTheBestFixedBudgetInHindsight) {
  // The histogram knows gaps only to a factor of two; 1.3 is what that may cost.
  const auto cost_of = [](const std::vector<int64_t>& gaps, int64_t budget_ns) {
    double cost = 0;
    const double price = 1.0 / SpinBudget::kLatencyPerCpu;
    for (const int64_t gap : gaps) {
      cost += gap <= budget_ns ? price * static_cast<double>(gap)
                               : price * static_cast<double>(budget_ns) + static_cast<double>(kCostNs);
    }
    return cost;
  };
  for (const double mean_ns : {2e3, 1e4, 5e4, 1e5, 2e5, 1e6, 1e7}) {
    std::mt19937 random(static_cast<uint32_t>(mean_ns));
    std::exponential_distribution<double> gap(1.0 / mean_ns);
    std::vector<int64_t> gaps(256);
    SpinBudget budget;
    teach_cost(budget, kCostNs);
    for (int64_t& value : gaps) budget.record_gap(value = static_cast<int64_t>(gap(random)));
    double best = cost_of(gaps, 0);
    for (int64_t b = 0; b <= SpinBudget::kWakeCostsMax * kCostNs; b += 500)
      best = std::min(best, cost_of(gaps, b));
    EXPECT_LE(cost_of(gaps, budget.budget_ns()), 1.3 * best) << "mean gap " << mean_ns << " ns";
  }
}

TEST(SpinBudget, TakesTheMedianOfWakeCosts) {
  SpinBudget budget;
  for (int i = 0; i < 15; ++i) budget.record_wake_cost(i % 3 == 0 ? 90'000 : 20'000);
  EXPECT_EQ(budget.wake_cost_ns(), 20'000);
}

TEST(SpinBudget, ClampsWakeCosts) {
  SpinBudget budget;
  teach_cost(budget, 50'000'000);
  EXPECT_EQ(budget.wake_cost_ns(), SpinBudget::kWakeCostNsMax);
  teach_cost(budget, -5);
  EXPECT_EQ(budget.wake_cost_ns(), SpinBudget::kWakeCostNsMin);
}

TEST(SpinBudget, SurvivesGapsAtTheEnds) {
  SpinBudget budget;
  for (int i = 0; i < 512; ++i) budget.record_gap(i % 2 == 0 ? 0 : INT64_MAX);
  EXPECT_GE(budget.budget_ns(), 0);
}

}  // namespace
}  // namespace taut
