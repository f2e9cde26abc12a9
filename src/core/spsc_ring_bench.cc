// Our ring against boost::lockfree::spsc_queue, interleaved A B B A on two pinned threads, as ratios of
// medians.
#include "core/spsc_ring.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/cycle_clock.h"
#include "core/this_thread.h"
#include "core/topology.h"

namespace taut {
namespace {

constexpr uint32_t kCapacity = 1024;

template <size_t Bytes>
struct Element {
  std::array<uint64_t, Bytes / 8> words{};
};

/// The two rivals behind one shape.
template <class T>
struct Ours {
  SpscRing<T> ring{kCapacity};
  bool push(const T& value) { return ring.try_push(value); }
  bool pop(T& value) { return ring.try_pop(value); }
};
template <class T>
struct Boost {
  // Aligned like ours, or elements of 64 bytes lie on one line or on two as the stack happens to fall.
  alignas(kApartBytes) boost::lockfree::spsc_queue<T, boost::lockfree::capacity<kCapacity>> ring;
  bool push(const T& value) { return ring.push(value); }
  bool pop(T& value) { return ring.pop(value); }
};

/// Polls until `done`. On a machine that others use as well, the peer may not be running: then it gets our
/// time.
template <class Done>
void poll_until(Done&& done) {
  constexpr uint32_t kPollsBeforeYield = 20'000;
  for (uint32_t polls = 0; !done(); ++polls) {
    if (polls >= kPollsBeforeYield) std::this_thread::yield();
  }
}

/// Two cores, read before the first pinning: afterwards this thread sees one.
const std::vector<int>& two_cores() {
  static const std::vector<int> kCpus = Topology::read().placement(2);
  return kCpus;
}

/// Runs `peer` on the second core and `body` here on the first; returns the nanoseconds body took.
template <class Peer, class Body>
int64_t timed_on_two_cores(Peer&& peer, Body&& body) {
  const std::vector<int>& cpus = two_cores();
  const CycleClock& clock = CycleClock::machine();
  std::atomic<bool> ready{false};
  std::thread other([&] {
    static_cast<void>(pin_this_thread(cpus.back()));
    ready.store(true, std::memory_order_release);  // pairs with the acquire below
    peer();
  });
  static_cast<void>(pin_this_thread(cpus.front()));
  poll_until([&] { return ready.load(std::memory_order_acquire); });  // pairs with the release above
  const int64_t start_ns = clock.now_ns();
  body();
  other.join();
  return clock.now_ns() - start_ns;
}

template <class Queue, class T>
double throughput_ns_per_op(uint64_t count) {
  Queue queue;
  const int64_t took_ns = timed_on_two_cores(
      [&] {
        T value;
        for (uint64_t i = 0; i < count; ++i) {
          poll_until([&] { return queue.pop(value); });
          if (value.words[0] != i) std::abort();
        }
      },
      [&] {
        T value;
        for (uint64_t i = 0; i < count; ++i) {
          value.words[0] = i;
          poll_until([&] { return queue.push(value); });
        }
      });
  return static_cast<double>(took_ns) / static_cast<double>(count);
}

template <class Queue, class T>
double round_trip_ns(uint64_t count) {
  Queue there;
  Queue back;
  const int64_t took_ns = timed_on_two_cores(
      [&] {
        T value;
        for (uint64_t i = 0; i < count; ++i) {
          poll_until([&] { return there.pop(value); });
          poll_until([&] { return back.push(value); });
        }
      },
      [&] {
        T value;
        for (uint64_t i = 0; i < count; ++i) {
          value.words[0] = i;
          poll_until([&] { return there.push(value); });
          poll_until([&] { return back.pop(value); });
          if (value.words[0] != i) std::abort();
        }
      });
  return static_cast<double>(took_ns) / static_cast<double>(count);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// One iteration is one A B B A block; the counters are medians over all blocks.
template <class A, class B>
void compare(benchmark::State& state, A&& run_ours, B&& run_boost) {
  std::vector<double> ours;
  std::vector<double> rival;
  for (auto _ : state) {
    ours.push_back(run_ours());
    rival.push_back(run_boost());
    rival.push_back(run_boost());
    ours.push_back(run_ours());
  }
  state.counters["ours_ns"] = median(ours);
  state.counters["boost_ns"] = median(rival);
  state.counters["boost_over_ours"] = median(rival) / median(ours);
}

template <size_t Bytes>
void BM_ThroughputAgainstBoost(benchmark::State& state) {
  using T = Element<Bytes>;
  const auto count = static_cast<uint64_t>(state.range(0));
  compare(
      state, [&] { return throughput_ns_per_op<Ours<T>, T>(count); },
      [&] { return throughput_ns_per_op<Boost<T>, T>(count); });
}
BENCHMARK(BM_ThroughputAgainstBoost<8>)->Arg(1'000'000)->Iterations(11)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ThroughputAgainstBoost<64>)->Arg(500'000)->Iterations(11)->Unit(benchmark::kMillisecond);

template <size_t Bytes>
void BM_RoundTripAgainstBoost(benchmark::State& state) {
  using T = Element<Bytes>;
  const auto count = static_cast<uint64_t>(state.range(0));
  compare(
      state, [&] { return round_trip_ns<Ours<T>, T>(count); },
      [&] { return round_trip_ns<Boost<T>, T>(count); });
}
BENCHMARK(BM_RoundTripAgainstBoost<8>)->Arg(50'000)->Iterations(11)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_RoundTripAgainstBoost<64>)->Arg(50'000)->Iterations(11)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut
