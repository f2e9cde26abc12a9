// Taking and releasing a lock around one increment, beside std::mutex doing the same.
#include "core/spin_lock.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <mutex>

namespace taut {
namespace {

template <class Lock>
void BM_Increment(benchmark::State& state) {
  static Lock lock;
  static uint64_t count = 0;
  for (auto _ : state) {
    lock.lock();
    benchmark::DoNotOptimize(++count);
    lock.unlock();
  }
}
BENCHMARK(BM_Increment<SpinLock>)->Threads(1)->Threads(2)->UseRealTime();
BENCHMARK(BM_Increment<std::mutex>)->Threads(1)->Threads(2)->UseRealTime();

}  // namespace
}  // namespace taut
