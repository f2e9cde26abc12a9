// What one message costs inside a conversation.
#include "chat/conversation.h"

#include <benchmark/benchmark.h>

#include <memory_resource>

namespace taut::chat {
namespace {

IdHash id_of(uint64_t n) {
  return {.high = n * 0x9E37'79B9'7F4A'7C15ULL, .low = (n + 1) * 0xBF58'476D'1CE4'E5B9ULL};
}

void SendAndAppend(benchmark::State& state) {
  const Party sender =
      state.range(0) == 0 ? Party{.id = "v1"} : Party{.kind = PartyKind::agent, .id = "agent-1"};
  Conversation c("c1", 0, {}, *std::pmr::new_delete_resource());
  (void)c.open();
  (void)c.append_event(nullptr, 0);
  (void)c.apply(Assign{.agent = Handle(1, 1, 1), .opening = 1, .owner_epoch = 1}, "agent-1");
  (void)c.append_event(nullptr, 0);
  (void)c.accept({.kind = PartyKind::agent, .id = "agent-1"});
  (void)c.append_event(nullptr, 0);
  uint64_t n = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(c.on_send(sender, id_of(n), n, ItemKind::text));
    benchmark::DoNotOptimize(c.append_message(nullptr, 0));
    ++n;
  }
  c.release_items([](void*) {});
}
BENCHMARK(SendAndAppend)->Arg(0)->Arg(1)->ArgName("agent");

void Repeat(benchmark::State& state) {
  Conversation c("c1", 0, {}, *std::pmr::new_delete_resource());
  (void)c.open();
  (void)c.append_event(nullptr, 0);
  for (uint64_t n = 0; n < 4096; ++n) {
    (void)c.on_send({.id = "v1"}, id_of(n), n, ItemKind::text);
    (void)c.append_message(nullptr, 0);
  }
  uint64_t n = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(c.on_send({.id = "v1"}, id_of(n % 4096), n % 4096, ItemKind::text));
    n += 1031;
  }
  c.release_items([](void*) {});
}
BENCHMARK(Repeat);

}  // namespace
}  // namespace taut::chat
