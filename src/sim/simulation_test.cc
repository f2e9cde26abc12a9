#include "sim/simulation.h"

#include <gtest/gtest.h>

namespace taut::sim {
namespace {

constexpr uint64_t kSteps = 4'000;

TEST(Simulation, TheSameSeedGivesTheSameRunToTheLastByte) {
  const std::vector<Action> actions = actions_of(7, kSteps);
  const Outcome first = run(7, actions);
  const Outcome second = run_apart(7, actions);
  EXPECT_EQ(first.hash, second.hash);
  EXPECT_EQ(first.items, second.items);
  EXPECT_NE(first.hash, run(8, actions_of(8, kSteps)).hash);
}

TEST(Simulation, PeopleTalkMessagesBecomeDurableAndNothingIsLost) {
  Outcome all;
  for (uint64_t seed = 10; seed < 14; ++seed) {
    const Outcome outcome = run(seed, actions_of(seed, kSteps));
    EXPECT_FALSE(outcome.violation) << seed << ": " << outcome.violation->name << ": "
                                    << outcome.violation->what;
    all.durable_acks += outcome.durable_acks;
    all.crashes += outcome.crashes;
  }
  EXPECT_GT(all.durable_acks, 50U);
  EXPECT_GE(all.crashes, 4U);
}

}  // namespace
}  // namespace taut::sim
