// What SQLite costs: applying records by the batch, a page of items, a search.
#include "store/history.h"

#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "store/sqlite_history.h"

namespace taut::store {
namespace {

constexpr uint32_t kConversations = 1'000;

/// A store in a directory of its own, and records for it: conversations, then texts of 100 bytes in turn.
class Filled {
 public:
  Filled() {
    std::string pattern = std::filesystem::temp_directory_path().string() + "/taut-bench-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
    store_ = SqliteHistory::open(directory_ + "/history.db").value();
    for (uint32_t i = 0; i < kConversations; ++i) {
      ids_.push_back("c" + std::to_string(i));
      add(ConversationFacts{.conversation = ids_.back(), .group = "sales", .visitor = "v", .json = "{}"});
    }
    apply_all();
  }
  Filled(const Filled&) = delete;
  Filled& operator=(const Filled&) = delete;
  ~Filled() {
    store_.reset();
    std::filesystem::remove_all(directory_);
  }

  void write(uint64_t items) {
    for (uint64_t i = 0; i < items; ++i, ++written_) {
      const std::string& text =
          owned_.emplace_back("Could you tell me where my order " + std::to_string(written_ * 7'919) +
                              " is? It should have been here last week, I think.");
      const std::string& json = owned_.emplace_back(
          R"({"type":"message","conversation":"c1","epoch":1,"seq":1,"from":{"kind":"visitor","id":"v1"},)"
          R"("client_msg_id":"0123456789abcdef","kind":"text","text":")" +
          text + R"(","ts":1700000000000})");
      add(Item{.conversation = ids_[written_ % kConversations],
               .seq = written_ / kConversations + 1,
               .ts_ms = 1,
               .sender = "v",
               .text = text,
               .json = json});
    }
    apply_all();
  }

  [[nodiscard]] HistoryStore& store() { return *store_; }

 private:
  void add(decltype(StoredRecord::content) content) {
    records_.push_back({.sequence = ++sequence_, .time_ms = 1, .content = content});
  }
  void apply_all() {
    store_->apply(records_).value();
    records_.clear();
    owned_.clear();
  }

  std::string directory_;
  std::unique_ptr<HistoryStore> store_;
  std::deque<std::string> ids_;
  std::deque<std::string> owned_;
  std::vector<StoredRecord> records_;
  uint64_t sequence_ = 0;
  uint64_t written_ = 0;
};

void Apply(benchmark::State& state) {
  Filled filled;
  const auto batch = static_cast<uint64_t>(state.range(0));
  for (auto _ : state) filled.write(batch);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(Apply)->Arg(1)->Arg(100)->Arg(1'000)->ArgName("records")->Unit(benchmark::kMicrosecond);

/// For questions: filled once, for all of them.
HistoryStore& long_history() {
  static Filled filled;
  static const bool written = (filled.write(kScanRecords), true);
  benchmark::DoNotOptimize(written);
  return filled.store();
}

void PageOfItems(benchmark::State& state) {
  HistoryStore& store = long_history();
  for (auto _ : state) benchmark::DoNotOptimize(store.items("c7", {.limit = 50}, Audience::agent));
}
BENCHMARK(PageOfItems)->Unit(benchmark::kMicrosecond);

void Search(benchmark::State& state) {
  HistoryStore& store = long_history();
  for (auto _ : state) benchmark::DoNotOptimize(store.search("order 158", 0, 50));
}
BENCHMARK(Search)->Unit(benchmark::kMicrosecond);

/// Not there: all of kScanRecords are compared.
void SearchShort(benchmark::State& state) {
  HistoryStore& store = long_history();
  for (auto _ : state) benchmark::DoNotOptimize(store.search("zq", 0, 50));
}
BENCHMARK(SearchShort)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace taut::store
