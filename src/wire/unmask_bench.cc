#include "wire/unmask.h"

#include <benchmark/benchmark.h>

#include <string>

namespace taut::wire {
namespace {

/// Arguments: vector width in bytes, payload bytes. The payload begins behind a 6- or 8-byte header, as in a
/// stream.
void unmask_payload(benchmark::State& state) {
  const auto width = static_cast<uint32_t>(state.range(0));
  const auto size = static_cast<size_t>(state.range(1));
  if (!unmask_supported(width)) {
    state.SkipWithError("this processor lacks the width");
    return;
  }
  std::string buffer(size + 8, 'x');
  for (auto _ : state) {
    unmask_with(width, std::span(buffer).subspan(8), 0x9E3779B9);
    benchmark::DoNotOptimize(buffer.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(size));
}
BENCHMARK(unmask_payload)->ArgsProduct({{16, 32, 64}, {60, 200, 1'024, 16'384}});

}  // namespace
}  // namespace taut::wire
