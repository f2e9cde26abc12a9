#include "gateway/dispatch_desk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <variant>
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
  JournalFeed feed(here.shard, metrics, {});
  const GroupRules rules;
  auto desk = std::make_unique<DispatchDesk>(
      here.shard, here.back(), feed, metrics,
      chat::Dispatcher::Options{.agents_max = 8, .conversations_max = 8}, rules, 2);
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

TEST(DispatchDesk, GroupsOpenAndCloseByTheCalendar) {
  ManualClock clock;  // a Tuesday, 22:13:21 UTC
  Mesh mesh{{.members = 2}};
  hub::HandTurnedShard here(0, mesh, clock);
  hub::HandTurnedShard there(1, mesh, clock);
  GatewayMetrics metrics;
  JournalFeed feed(here.shard, metrics, {});
  GroupRules rules;
  rules.hours.emplace_back(*WorkingHours::parse("Tu 22:14-22:16"));
  auto desk = std::make_unique<DispatchDesk>(
      here.shard, here.back(), feed, metrics,
      chat::Dispatcher::Options{.agents_max = 8, .conversations_max = 8}, rules, 2);
  here.program.handle_timer = [&desk](Timer& timer) {
    ASSERT_EQ(timer.kind, DispatchDesk::kHoursTimer);
    desk->on_hours();
  };
  const auto agent_word = [&](MailKind kind) {
    Block* id = here.pool().allocate(2);
    id->append("a1");
    const AgentMail word{
        .endpoint = Handle(1, 1, 1), .groups = 1, .capacity = 9, .status = chat::Presence::online, .id = id};
    kind == MailKind::agent_connected ? desk->agent_connected(word) : desk->agent_presence(word);
  };
  const auto assigned = [&](uint32_t slot) {
    desk->conversation_opened({.conversation = Handle(1, 1, slot), .opening = 1});
    here.flush();
    there.turn();
    const bool found = std::ranges::any_of(there.program.received, [](const Mail& mail) {
      if (mail.kind != static_cast<uint32_t>(MailKind::decision)) return false;
      chat::Effect effect;
      std::memcpy(&effect, mail.payload.data(), sizeof(effect));
      return std::holds_alternative<chat::Assign>(effect);
    });
    for (const Mail& mail : there.program.received) {
      if (mail.kind == static_cast<uint32_t>(MailKind::agent_named))
        there.back().release(mail.as<AgentNamed>().id);
    }
    there.program.received.clear();
    return found;
  };
  agent_word(MailKind::agent_connected);
  agent_word(MailKind::agent_presence);
  EXPECT_FALSE(assigned(1));
  const auto pass = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      clock.advance_ns(1'000'000'000);
      here.turn();
    }
  };
  pass(38);
  EXPECT_FALSE(assigned(2));
  pass(2);
  EXPECT_TRUE(assigned(3)) << "22:14:01";
  pass(118);
  EXPECT_TRUE(assigned(4));
  pass(3);
  EXPECT_FALSE(assigned(5)) << "22:16:02";
  for (const Mail& mail : here.program.received) {
    if (mail.kind == static_cast<uint32_t>(MailKind::agent_named))
      here.back().release(mail.as<AgentNamed>().id);
  }
  there.flush();
  here.turn();
  desk.reset();
}

}  // namespace
}  // namespace taut::gateway
