// What one decision costs with 500 agents and 10,000 waiting conversations.
#include "chat/dispatcher.h"

#include <benchmark/benchmark.h>

#include <memory_resource>
#include <string>

namespace taut::chat {
namespace {

constexpr uint32_t kAgents = 500;
constexpr uint32_t kCapacity = 4;
constexpr uint32_t kQueued = 10'000;

void add_agents(Dispatcher& d, uint32_t capacity) {
  for (uint32_t a = 0; a < kAgents; ++a) {
    const std::string id = "agent-" + std::to_string(a);
    (void)d.agent_connected(id, Handle(1, 1, a), {.groups = 1, .capacity = capacity}, 0);
    d.agent_presence(id, Presence::online, Dispatcher::kTokenCapacity, 0);
  }
}

Handle key(uint64_t n) {
  return Handle(2, 1, static_cast<uint32_t>(n));
}

/// All agents full: one close, which gives the oldest to the agent who became free, and one opening.
void CloseAndAssignTheOldest(benchmark::State& state) {
  Dispatcher d({}, *std::pmr::new_delete_resource());
  add_agents(d, kCapacity);
  uint64_t opened = 0;
  for (; opened < kAgents * kCapacity + kQueued; ++opened)
    (void)d.conversation_opened(key(opened), 0, 1, 0, 0);
  d.clear_effects();
  uint64_t closed = 0;
  for (auto _ : state) {
    d.closed(key(closed++), 0);
    (void)d.conversation_opened(key(opened++), 0, 1, 0, 0);
    d.clear_effects();
  }
}
BENCHMARK(CloseAndAssignTheOldest);

/// Nobody waits and all agents are assignable: the widest choice.
void ChooseAmongAllAgents(benchmark::State& state) {
  Dispatcher d({}, *std::pmr::new_delete_resource());
  add_agents(d, 1000);
  uint64_t n = 0;
  for (auto _ : state) {
    (void)d.conversation_opened(key(n), 0, 1, 0, 0);
    d.closed(key(n), 0);
    d.clear_effects();
    ++n;
  }
}
BENCHMARK(ChooseAmongAllAgents);

/// The head moved: the first hundred places and the next far ones are told anew.
void FlushPositions(benchmark::State& state) {
  Dispatcher d({}, *std::pmr::new_delete_resource());
  uint64_t opened = 0;
  for (; opened < kQueued; ++opened) (void)d.conversation_opened(key(opened), 0, 1, 0, 0);
  uint64_t closed = 0;
  for (auto _ : state) {
    d.closed(key(closed++), 0);
    (void)d.conversation_opened(key(opened++), 0, 1, 0, 0);
    d.flush_positions();
    d.clear_effects();
  }
}
BENCHMARK(FlushPositions);

}  // namespace
}  // namespace taut::chat
