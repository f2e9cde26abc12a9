// What a push costs when other producers push as well, beside boost::lockfree::queue doing the same.
#include "core/mpsc_queue.h"

#include <benchmark/benchmark.h>

#include <boost/lockfree/queue.hpp>
#include <thread>

namespace taut {
namespace {

constexpr uint32_t kCapacity = 1024;

struct Ours {
  MpscQueue<uint64_t> queue{kCapacity};
  bool push(uint64_t value) { return queue.try_push(value); }
  bool pop(uint64_t& value) { return queue.try_pop(value); }
};
struct Boost {
  boost::lockfree::queue<uint64_t, boost::lockfree::capacity<kCapacity>> queue;
  bool push(uint64_t value) { return queue.push(value); }
  bool pop(uint64_t& value) { return queue.pop(value); }
};

/// Thread 0 consumes, the others produce, until each has done its iterations; the consumer's count.
template <class Queue>
void BM_Producers(benchmark::State& state) {
  static Queue queue;
  const bool consumes = state.thread_index() == 0;
  for (auto _ : state) {
    // The last to leave may find nobody at the other end: neither side insists.
    constexpr int kTries = 1'000;
    uint64_t value = 1;
    for (int i = 0; i < kTries && !(consumes ? queue.pop(value) : queue.push(value)); ++i) {
      if (i % 100 == 99) std::this_thread::yield();
    }
    benchmark::DoNotOptimize(value);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Producers<Ours>)->Threads(2)->Threads(3)->UseRealTime();
BENCHMARK(BM_Producers<Boost>)->Threads(2)->Threads(3)->UseRealTime();

}  // namespace
}  // namespace taut
