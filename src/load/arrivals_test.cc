#include "load/arrivals.h"

#include <gtest/gtest.h>

#include <vector>

namespace taut::load {
namespace {

TEST(Arrivals, EvenOnesAreEquallySpacedAndTakeTheFlowsInTurn) {
  Arrivals arrivals(ArrivalKind::even, 20'000, 64, 1);
  for (uint32_t i = 0; i < 1000; ++i) {
    const Arrival a = arrivals.next();
    EXPECT_EQ(a.at_ns, i * 50'000);
    EXPECT_EQ(a.flow, i % 64);
  }
}

TEST(Arrivals, EvenOnesDoNotDriftWhenTheGapIsNotAWholeNumber) {
  Arrivals arrivals(ArrivalKind::even, 3, 1, 1);
  int64_t last = 0;
  for (int i = 0; i <= 300'000; ++i) last = arrivals.next().at_ns;
  EXPECT_NEAR(static_cast<double>(last), 100'000e9, 2);
}

TEST(Arrivals, BurstsKeepTheMeanRateAndTakeTheFlowsInTurn) {
  Arrivals arrivals(ArrivalKind::bursts, 2'000, 64, 1);
  const int64_t within = 1'000'000'000 / kBurstRate;
  const int64_t apart = int64_t{kBurstMessages} * 500'000;
  for (uint32_t i = 0; i < 3 * kBurstMessages; ++i) {
    const Arrival a = arrivals.next();
    EXPECT_EQ(a.at_ns, i / kBurstMessages * apart + i % kBurstMessages * within);
    EXPECT_EQ(a.flow, i % 64);
  }
}

TEST(Arrivals, PoissonOnesHaveTheMeanAndTheSpreadOfAnExponential) {
  constexpr int kCount = 100'000;
  Arrivals arrivals(ArrivalKind::poisson, 1000, 8, 42);
  std::vector<int> per_flow(8);
  int64_t last = 0;
  int beyond_mean = 0;
  for (int i = 0; i < kCount; ++i) {
    const Arrival a = arrivals.next();
    EXPECT_GE(a.at_ns, last);
    beyond_mean += a.at_ns - last > 1'000'000;
    last = a.at_ns;
    ++per_flow[a.flow];
  }
  EXPECT_NEAR(static_cast<double>(last) / kCount, 1e6, 2e4);
  EXPECT_NEAR(beyond_mean, kCount * 0.3679, kCount * 0.01);  // 1/e of the gaps are longer than the mean
  for (const int n : per_flow) EXPECT_NEAR(n, kCount / 8.0, kCount / 100.0);
}

TEST(Arrivals, TheSameSeedRepeatsTheSameRun) {
  Arrivals a(ArrivalKind::poisson, 1000, 8, 7);
  Arrivals b(ArrivalKind::poisson, 1000, 8, 7);
  Arrivals other(ArrivalKind::poisson, 1000, 8, 8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const Arrival x = a.next();
    const Arrival y = b.next();
    EXPECT_EQ(x.at_ns, y.at_ns);
    EXPECT_EQ(x.flow, y.flow);
    differs |= other.next().at_ns != x.at_ns;
  }
  EXPECT_TRUE(differs);
}

}  // namespace
}  // namespace taut::load
