// The history's database in a simulation: it fails when a step says so, and loses what was not synced.
#pragma once

#include <cstdint>

#include "store/batch.h"
#include "store/history_model_fixture.h"

namespace taut::sim {

/// Outlives the server's lives. One thread.
class UnsteadyStore final : public store::HistoryModel {
 public:
  /// So many of the calls that come next fail.
  void fail_calls(uint32_t calls) { failing_ = calls; }
  /// The machine has lost power.
  void lose_power() { contents() = synced_; }

  Result<uint64_t> position() override {
    if (fails()) return failure();
    return HistoryModel::position();
  }
  /// As that of a database of which it is not known, when it fails, whether it did it.
  Status apply(std::span<const store::StoredRecord> records) override {
    const bool failed = fails();
    if (failed && failing_ % 2 == 0) return failure();
    const bool empty = contents().position == 0 && !records.empty();
    const auto batch = store::fold(records, empty ? records.front().sequence - 1 : contents().position);
    if (!batch) return std::unexpected(batch.error());
    const Status applied = HistoryModel::apply(records);
    return failed ? failure() : applied;
  }
  Status sync() override {
    if (fails()) return failure();
    synced_ = contents();
    return {};
  }
  Result<store::ItemPage> items(std::string_view conversation, const store::ItemRange& range,
                                store::Audience audience) override {
    if (fails()) return failure();
    return HistoryModel::items(conversation, range, audience);
  }
  Result<std::optional<store::ConversationRow>> conversation(std::string_view id) override {
    if (fails()) return failure();
    return HistoryModel::conversation(id);
  }

 private:
  static std::unexpected<Error> failure() { return fail("the simulated store fails"); }
  bool fails() {
    if (failing_ == 0) return false;
    --failing_;
    return true;
  }

  Contents synced_;
  uint32_t failing_ = 0;
};

}  // namespace taut::sim
