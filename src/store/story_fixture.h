// Test support: records as a journal would hold them, written by hand, and everything that a store has.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/history.h"

namespace taut::store {

/// Record n is written at n seconds. The JSON is no JSON, but bytes that must come back as they went in.
class Story {
 public:
  static constexpr int64_t kMsPerRecord = 1'000;

  explicit Story(uint64_t first = 1) : first_(first) {}

  [[nodiscard]] std::span<const StoredRecord> all() const { return records_; }
  /// The records from … to, both included.
  [[nodiscard]] std::span<const StoredRecord> part(uint64_t from, uint64_t to) const {
    return all().subspan(from - first_, to - from + 1);
  }
  [[nodiscard]] uint64_t last() const { return first_ + records_.size() - 1; }

  void conversation(std::string_view id, std::string_view visitor, std::string_view group = "sales",
                    std::string_view extra = "") {
    add(ConversationFacts{.conversation = keep(id),
                          .group = keep(group),
                          .visitor = keep(visitor),
                          .json = keep("{facts " + std::string(id) + std::string(extra) + "}")});
  }
  void text(std::string_view id, std::string_view text, PartyKind by = PartyKind::visitor,
            std::string_view sender = "v") {
    message(id, text, ItemKind::text, by, sender);
  }
  void note(std::string_view id, std::string_view text, std::string_view agent = "a1") {
    message(id, text, ItemKind::note, PartyKind::agent, agent);
  }
  void event(std::string_view id, EventKind event, std::string_view agent = "", std::string_view group = "") {
    Item item = next_item(id, ItemKind::event, "");
    item.event = event;
    item.agent = keep(agent);
    item.group = keep(group);
    add(item);
  }
  void receipts(Receipts marks) {
    marks.conversation = keep(marks.conversation);
    add(marks);
  }
  void forgotten(std::string_view visitor) { add(Forgotten{keep(visitor)}); }
  /// Records of which history keeps nothing.
  void others(size_t count) {
    for (size_t i = 0; i < count; ++i) add(std::monostate{});
  }
  /// The next item of the conversation takes seq + 1.
  void set_seq(std::string_view id, uint64_t seq) { seqs_[std::string(id)] = seq; }
  void start_epoch() { ++epoch_; }
  [[nodiscard]] uint64_t seq_of(std::string_view id) const { return seqs_.at(std::string(id)); }

 private:
  std::string_view keep(std::string_view text) { return owned_.emplace_back(text); }

  void message(std::string_view id, std::string_view text, ItemKind kind, PartyKind by,
               std::string_view sender) {
    Item item = next_item(id, kind, text);
    item.sender_kind = by;
    item.sender = keep(sender);
    add(item);
  }
  Item next_item(std::string_view id, ItemKind kind, std::string_view text) {
    const uint64_t seq = ++seqs_[std::string(id)];
    return {.conversation = keep(id),
            .epoch = epoch_,
            .seq = seq,
            .ts_ms = static_cast<int64_t>(last() + 1) * kMsPerRecord,
            .kind = kind,
            .text = keep(text),
            .json = keep("{" + std::string(id) + "/" + std::to_string(seq) + " " + std::string(text) + "}")};
  }
  void add(decltype(StoredRecord::content) content) {
    const uint64_t sequence = last() + 1;
    records_.push_back(
        {.sequence = sequence, .time_ms = static_cast<int64_t>(sequence) * kMsPerRecord, .content = content});
  }

  uint64_t first_;
  uint64_t epoch_ = 1;
  std::vector<StoredRecord> records_;
  std::deque<std::string> owned_;
  std::map<std::string, uint64_t> seqs_;
};

/// What a call answered; its error fails the test.
template <class T>
T good(Result<T> result) {
  if (result) return *std::move(result);
  ADD_FAILURE() << result.error().message;
  return T{};
}

[[nodiscard]] inline testing::AssertionResult succeeds(const Status& status) {
  if (status) return testing::AssertionSuccess();
  return testing::AssertionFailure() << status.error().message;
}

[[nodiscard]] inline ItemPage after(HistoryStore& store, std::string_view id, uint64_t seq, uint32_t limit,
                                    Audience audience = Audience::agent) {
  return good(store.items(id, {.side = ItemRange::Side::after, .seq = seq, .limit = limit}, audience));
}
[[nodiscard]] inline ItemPage before(HistoryStore& store, std::string_view id, uint64_t seq, uint32_t limit,
                                     Audience audience = Audience::agent) {
  return good(store.items(id, {.side = ItemRange::Side::before, .seq = seq, .limit = limit}, audience));
}

/// Of all pages.
[[nodiscard]] inline std::vector<ConversationRow> all_conversations(HistoryStore& store,
                                                                    ConversationFilter filter = {}) {
  std::vector<ConversationRow> all;
  do {
    ConversationPage page = good(store.conversations(filter));
    EXPECT_LE(page.conversations.size(), filter.limit);
    std::ranges::move(page.conversations, std::back_inserter(all));
    filter.cursor = page.cursor;
  } while (filter.cursor != 0);
  return all;
}
[[nodiscard]] inline std::vector<SearchHit> all_hits(HistoryStore& store, std::string_view text,
                                                     uint32_t limit = 50) {
  std::vector<SearchHit> all;
  uint64_t cursor = 0;
  do {
    SearchPage page = good(store.search(text, cursor, limit));
    EXPECT_LE(page.hits.size(), limit);
    std::ranges::move(page.hits, std::back_inserter(all));
    cursor = page.cursor;
  } while (cursor != 0);
  return all;
}

/// The ids alone, for short expectations.
[[nodiscard]] inline std::string ids(const std::vector<ConversationRow>& rows) {
  std::string text;
  for (const ConversationRow& row : rows) text += (text.empty() ? "" : " ") + row.id;
  return text;
}
/// Likewise "c1/3 c1/2".
[[nodiscard]] inline std::string places(const std::vector<SearchHit>& hits) {
  std::string text;
  for (const SearchHit& hit : hits) {
    text += (text.empty() ? "" : " ") + hit.conversation + "/" + std::to_string(hit.seq);
  }
  return text;
}

/// Everything that a store has, as text that can be compared.
[[nodiscard]] inline std::string dump(HistoryStore& store) {
  std::string text = "position " + std::to_string(good(store.position())) + "\n";
  for (const ConversationRow& row : all_conversations(store)) {
    text += row.id + " record=" + std::to_string(row.record) + " visitor=" + row.visitor +
            " group=" + row.group + " state=" + std::to_string(static_cast<int>(row.state)) +
            " agent=" + row.agent + " opened=" + std::to_string(row.opened_ms) +
            " last=" + std::to_string(row.last_ms) + " epoch=" + std::to_string(row.epoch) +
            " seq=" + std::to_string(row.seq) + " marks=" + std::to_string(row.visitor_delivered) + "," +
            std::to_string(row.visitor_read) + "," + std::to_string(row.agent_delivered) + "," +
            std::to_string(row.agent_read) + " " + row.json + "\n";
    uint64_t seq = 0;
    bool more = true;
    while (more) {
      const ItemPage page = after(store, row.id, seq, kPageMax);
      for (const ItemRow& item : page.items) {
        text += "  " + std::to_string(item.epoch) + "/" + std::to_string(item.seq) + " " +
                std::to_string(item.ts_ms) + " " + std::to_string(static_cast<int>(item.kind)) + " " +
                item.json + "\n";
        seq = item.seq;
      }
      more = page.more;
    }
  }
  return text;
}

}  // namespace taut::store
