#include "gateway/dispatch_desk.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "hub/hand_turned_shard.h"

namespace taut::gateway {
namespace {

TEST(DispatchDesk, NamesAgentsToEveryShardWhileThePoolIsExhausted) {
  ManualClock clock;
  Mesh mesh{{.members = 2}};
  hub::HandTurnedShard here(0, mesh, clock, 8 * BufferPool::kSlabBytes);
  hub::HandTurnedShard there(1, mesh, clock);
  GatewayMetrics metrics;
  auto desk =
      std::make_unique<DispatchDesk>(here.shard, here.back(), metrics,
                                     chat::Dispatcher::Options{.agents_max = 8, .conversations_max = 8}, 2);
  Block* id = there.pool().allocate(2);
  id->append("a1");
  std::vector<Block*> hoard;
  for (const uint32_t bytes : {100'000U, 1'000U, 1U}) {
    while (Block* block = here.pool().allocate(bytes)) hoard.push_back(block);
  }
  desk->agent_connected({.endpoint = Handle(1, 1, 1), .groups = 1, .capacity = 1, .id = id});
  here.flush();
  there.turn();
  for (hub::HandTurnedShard* shard : {&here, &there}) {
    ASSERT_EQ(shard->program.received.size(), 1U);
    const auto named = shard->program.received[0].as<AgentNamed>();
    EXPECT_EQ(named.id->bytes(), "a1");
    shard->back().release(named.id);
    shard->flush();
  }
  for (Block* block : hoard) here.pool().release(block);
  here.turn();
  desk.reset();
  EXPECT_EQ(here.outstanding(), 0U);
  EXPECT_EQ(there.outstanding(), 0U);
}

}  // namespace
}  // namespace taut::gateway
