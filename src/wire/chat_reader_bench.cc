#include "wire/chat_reader.h"

#include <benchmark/benchmark.h>

#include <string>

namespace taut::wire {
namespace {

/// A `send` of so many bytes of text. Plain ASCII, as most chat is; the second argument asks for an escape in
/// each 50 bytes.
std::string send_frame(size_t text_bytes, bool escapes) {
  std::string text(text_bytes, 'x');
  for (size_t at = 10; escapes && at + 2 <= text.size(); at += 50) text.replace(at, 2, "\\n");
  return R"({"type":"send","ref":123,"conversation":"0a1.1234567","client_msg_id":"m-1234567","text":")" +
         text + "\"}";
}

void read_send(benchmark::State& state) {
  std::string frame = send_frame(static_cast<size_t>(state.range(0)), state.range(1) != 0);
  const size_t size = frame.size();
  frame.resize(size + kReadablePadding);
  ChatReader reader;
  for (auto _ : state) {
    if (reader.read(std::span(frame).first(size)) != ReadStatus::message) state.SkipWithError("refused");
    benchmark::DoNotOptimize(reader.message().text.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(size));
}
BENCHMARK(read_send)->ArgsProduct({{200, 1'024}, {0, 1}});

void read_ping(benchmark::State& state) {
  std::string frame = R"({"type":"ping","ref":123})";
  const size_t size = frame.size();
  frame.resize(size + kReadablePadding);
  ChatReader reader;
  for (auto _ : state) benchmark::DoNotOptimize(reader.read(std::span(frame).first(size)));
}
BENCHMARK(read_ping);

}  // namespace
}  // namespace taut::wire
