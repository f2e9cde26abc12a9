#include "gateway/recovery.h"

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/assert.h"
#include "gateway/conversation_id.h"
#include "wire/record_json_testing.h"

namespace taut::gateway {
namespace {

constexpr uint32_t kMessagesEach = 200;

struct Written {
  journal::RecordType type = journal::RecordType::item;
  std::string payload;
};

/// A start and so many conversations, one message of each after the other.
std::vector<Written> journal_of(uint32_t conversations, size_t text_bytes) {
  using journal::RecordType;
  std::vector<Written> out{
      {RecordType::started, wire::payload_of(wire::Started{.version = "1", .clean = true})}};
  std::vector<std::string> ids;
  for (uint32_t n = 0; n < conversations; ++n) {
    const std::string visitor = "v" + std::to_string(n);
    ids.push_back(make_conversation_id(partition_of(Role::visitor, visitor), 1, n));
    out.push_back(
        {RecordType::conversation, wire::payload_of(wire::ConversationFacts{
                                       .conversation = ids.back(), .group = "sales", .visitor = visitor})});
    out.push_back({RecordType::item,
                   wire::payload_of(wire::Event{
                       .conversation = ids.back(), .epoch = 1, .seq = 1, .group = "sales", .ts = 1})});
  }
  const std::string text(text_bytes, 'x');
  for (uint32_t seq = 2; seq < kMessagesEach + 2; ++seq) {
    for (const std::string& id : ids) {
      out.push_back(
          {RecordType::item, wire::payload_of(wire::Message{.conversation = id,
                                                            .epoch = 1,
                                                            .seq = seq,
                                                            .from = {.id = "v1", .name = "Eve"},
                                                            .client_msg_id = "m-" + std::to_string(seq),
                                                            .text = text,
                                                            .ts = 1'700'000'000'000})});
    }
  }
  return out;
}

/// How long a start takes for each record, but for the reading of the files.
void recover(benchmark::State& state) {
  const std::vector<Written> written = journal_of(static_cast<uint32_t>(state.range(0)), 200);
  for (auto _ : state) {
    Recovery recovery(
        {.groups = {"sales"}, .conversations_max = 100'000, .history_items = 1'000, .hash_seed = 1});
    uint64_t sequence = 0;
    for (const auto& [type, payload] : written) {
      const Status applied = recovery.apply({.sequence = ++sequence, .type = type, .payload = payload});
      TAUT_ASSERT(applied.has_value());
    }
    benchmark::DoNotOptimize(recovery.take(4, 100'000));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(written.size()));
}
BENCHMARK(recover)->Arg(10)->Arg(1'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::gateway
