#include "wire/chat_writer.h"

#include <benchmark/benchmark.h>

#include <string>

namespace taut::wire {
namespace {

/// What a push costs: the size of the block, then the object. Arguments: text bytes, whether it needs
/// escapes.
void write_message(benchmark::State& state) {
  std::string text(static_cast<size_t>(state.range(0)), 'x');
  for (size_t at = 10; state.range(1) != 0 && at < text.size(); at += 50) text[at] = '\n';
  const Message m{.conversation = "0a1.1234567",
                  .epoch = 1,
                  .seq = 1'234,
                  .from = {.id = "v-1234567", .name = "A visitor"},
                  .client_msg_id = "m-1234567",
                  .text = text,
                  .ts = 1'700'000'000'000};
  std::string out(max_size(m), '\0');
  for (auto _ : state) {
    if (max_size(m) > out.size()) state.SkipWithError("grew");
    benchmark::DoNotOptimize(write(out, m).size);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(write_message)->ArgsProduct({{200, 1'024}, {0, 1}});

void write_ack(benchmark::State& state) {
  const Ack m{.ref = 123,
              .conversation = "0a1.1234567",
              .client_msg_id = "m-1234567",
              .epoch = 1,
              .seq = 1'234,
              .ts = 1'700'000'000'000};
  std::string out(max_size(m), '\0');
  for (auto _ : state) {
    benchmark::DoNotOptimize(write(out, m).size);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(write_ack);

}  // namespace
}  // namespace taut::wire
