// Allocation and release of blocks, beside malloc doing the same.
#include "core/buffer_pool.h"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <vector>

namespace taut {
namespace {

/// One block at a time: every round empties its slab.
void pool_one(benchmark::State& state) {
  BufferPool pool({});
  const auto size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    Block* const block = pool.allocate(size);
    benchmark::DoNotOptimize(block);
    pool.release(block);
  }
}
BENCHMARK(pool_one)->Arg(100)->Arg(1100)->Arg(20'000);

void malloc_one(benchmark::State& state) {
  const auto size = static_cast<size_t>(state.range(0));
  for (auto _ : state) {
    void* const memory = std::malloc(size);
    benchmark::DoNotOptimize(memory);
    std::free(memory);
  }
}
BENCHMARK(malloc_one)->Arg(100)->Arg(1100)->Arg(20'000);

/// A queue of blocks, as a connection's output has: the oldest goes, a new one comes.
void pool_queue(benchmark::State& state) {
  BufferPool pool({});
  std::vector<Block*> queue(static_cast<size_t>(state.range(0)));
  for (Block*& block : queue) block = pool.allocate(1100);
  size_t at = 0;
  for (auto _ : state) {
    pool.release(queue[at]);
    queue[at] = pool.allocate(1100);
    at = at + 1 < queue.size() ? at + 1 : 0;
  }
  for (Block* const block : queue) pool.release(block);
}
BENCHMARK(pool_queue)->Arg(16)->Arg(1024);

void malloc_queue(benchmark::State& state) {
  std::vector<void*> queue(static_cast<size_t>(state.range(0)));
  for (void*& memory : queue) memory = std::malloc(1100);
  size_t at = 0;
  for (auto _ : state) {
    std::free(queue[at]);
    queue[at] = std::malloc(1100);
    at = at + 1 < queue.size() ? at + 1 : 0;
  }
  for (void* const memory : queue) std::free(memory);
}
BENCHMARK(malloc_queue)->Arg(16)->Arg(1024);

}  // namespace
}  // namespace taut
