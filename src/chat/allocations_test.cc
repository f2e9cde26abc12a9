// Counts every heap allocation of the process, so that "allocates nothing" is a test and not a hope.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory_resource>
#include <new>

#include "chat/conversation.h"
#include "chat/dispatcher.h"

namespace {
uint64_t g_allocations = 0;  // gtest runs its tests on one thread
}  // namespace

// Not inlined: GCC would take malloc in one and free in the other for a mismatched pair.
[[gnu::noinline]] void* operator new(size_t bytes) {
  ++g_allocations;
  if (void* block = std::malloc(bytes)) return block;
  std::abort();
}
[[gnu::noinline]] void* operator new(size_t bytes, std::align_val_t alignment) {
  ++g_allocations;
  const auto align = static_cast<size_t>(alignment);
  if (void* block = std::aligned_alloc(align, (bytes + align - 1) / align * align)) return block;
  std::abort();
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::align_val_t) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, size_t, std::align_val_t) noexcept {
  std::free(block);
}

namespace taut::chat {
namespace {

TEST(Allocations, TheCounterCounts) {
  const uint64_t before = g_allocations;
  // Through a virtual call, because the compiler may drop a new expression that is deleted at once.
  std::pmr::memory_resource& heap = *std::pmr::new_delete_resource();
  heap.deallocate(heap.allocate(8), 8);
  EXPECT_EQ(g_allocations, before + 1);
}

TEST(Allocations, AMessageCostsNoneOnceTheWindowsAreFull) {
  Conversation c("c1", 0, {.items_max = 1000}, *std::pmr::new_delete_resource());
  (void)c.open();
  (void)c.append_event(nullptr, 0);
  (void)c.apply(Assign{.agent = Handle(1, 1, 1), .opening = 1, .owner_epoch = 1}, "a1");
  (void)c.append_event(nullptr, 0);
  const auto send = [&c](uint64_t n) {
    const Party agent{.kind = PartyKind::agent, .id = "a1"};
    const Party sender = n % 2 == 0 ? Party{.id = "v1"} : agent;
    const IdHash id{.high = n, .low = n * 0x9E37'79B9'7F4A'7C15ULL};
    const SendDecision decision = c.on_send(sender, id, n, ItemKind::text);
    ASSERT_EQ(decision.code, Code::ok);
    if (decision.accepts) (void)c.append_event(nullptr, 0);
    (void)c.append_message(nullptr, 0);
    ASSERT_TRUE(c.on_send(sender, id, n, ItemKind::text).dup);
  };
  for (uint64_t n = 0; n < 2 * 4096; ++n) send(n);
  const uint64_t before = g_allocations;
  for (uint64_t n = 2 * 4096; n < 40'000; ++n) send(n);
  (void)c.plan_resume(1, 10);
  (void)c.history(0, 200);
  EXPECT_EQ(g_allocations, before);
  c.release_items([](void*) {});
}

TEST(Allocations, AnAssignmentCostsNoneInSteadyState) {
  Dispatcher d({.agents_max = 10, .conversations_max = 100}, *std::pmr::new_delete_resource());
  ASSERT_TRUE(d.agent_connected("a1", Handle(1, 1, 1), {.groups = 1, .capacity = 2}, 0));
  d.agent_presence("a1", Presence::online, Dispatcher::kTokenCapacity, 0);
  uint64_t before = 0;
  for (uint32_t n = 0; n < 1000; ++n) {
    if (n == 100) before = g_allocations;
    ASSERT_TRUE(d.conversation_opened(Handle(1, 1, n), 0, 1, 0, n));
    d.accepted(Handle(1, 1, n), 1, n);
    d.flush_positions();
    if (n >= 50) d.closed(Handle(1, 1, n - 50), n);
    d.clear_effects();
  }
  EXPECT_EQ(g_allocations, before);
}

}  // namespace
}  // namespace taut::chat
