// Test support: the simplest history that could be right, to compare the real ones with.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "store/history.h"

namespace taut::store {

/// Record by record, in vectors. Texts are compared in ASCII only, and always all of them.
class HistoryModel : public HistoryStore {
 private:
  struct KeptItem {
    uint64_t record;
    std::string text;
    ItemRow row;
  };
  struct Kept {
    ConversationRow row;
    std::vector<KeptItem> items;
  };

 public:
  /// All that it knows.
  struct Contents {
    uint64_t position = 0;
    std::map<uint64_t, Kept, std::greater<>> kept;  ///< by record: newest first
  };
  [[nodiscard]] Contents& contents() { return contents_; }

  Result<uint64_t> position() override { return contents_.position; }

  Status sync() override { return {}; }
  Status apply(std::span<const StoredRecord> records) override {
    for (const StoredRecord& record : records) {
      if (record.sequence <= contents_.position) continue;
      contents_.position = record.sequence;
      if (const auto* facts = std::get_if<ConversationFacts>(&record.content)) take(record, *facts);
      if (const auto* item = std::get_if<Item>(&record.content)) take(record, *item);
      if (const auto* marks = std::get_if<Receipts>(&record.content)) take(*marks);
      if (const auto* gone = std::get_if<Forgotten>(&record.content)) {
        if (const auto removed = remove_visitor(gone->visitor); !removed)
          return std::unexpected(removed.error());
      }
    }
    return {};
  }

  Result<ItemPage> items(std::string_view id, const ItemRange& range, Audience audience) override {
    ItemPage page;
    const Kept* kept = find(id);
    if (kept == nullptr) return page;
    std::vector<ItemRow> rows;
    const bool after = range.side == ItemRange::Side::after;
    for (const KeptItem& item : kept->items) {
      const bool wanted = after ? item.row.seq > range.seq : range.seq == 0 || item.row.seq < range.seq;
      if (!wanted) continue;
      rows.push_back(item.row);
      if (audience == Audience::visitor && item.row.kind == ItemKind::note) rows.back().json.clear();
    }
    page.more = rows.size() > range.limit;
    const auto count = static_cast<std::ptrdiff_t>(std::min<size_t>(rows.size(), range.limit));
    page.items =
        after ? std::vector(rows.begin(), rows.begin() + count) : std::vector(rows.end() - count, rows.end());
    return page;
  }

  Result<std::optional<ConversationRow>> conversation(std::string_view id) override {
    const Kept* kept = find(id);
    return kept == nullptr ? std::nullopt : std::optional(kept->row);
  }

  Result<ConversationPage> conversations(const ConversationFilter& filter) override {
    ConversationPage page;
    for (const auto& [record, kept] : contents_.kept) {
      const bool has_text = filter.text.empty() || std::ranges::any_of(kept.items, [&](const KeptItem& item) {
                              return item.text.contains(filter.text);
                            });
      const bool wanted = (filter.cursor == 0 || record < filter.cursor) &&
                          (!filter.state || kept.row.state == *filter.state) &&
                          (filter.agent.empty() || kept.row.agent == filter.agent) &&
                          (filter.visitor.empty() || kept.row.visitor == filter.visitor) && has_text;
      if (!wanted) continue;
      if (page.conversations.size() == filter.limit) {
        page.cursor = page.conversations.back().record;
        break;
      }
      page.conversations.push_back(kept.row);
    }
    return page;
  }

  Result<SearchPage> search(std::string_view text, uint64_t cursor, uint32_t limit) override {
    std::map<uint64_t, SearchHit, std::greater<>> hits;
    for (const auto& [record, kept] : contents_.kept) {
      for (const KeptItem& item : kept.items) {
        if (!item.text.contains(text) || (cursor != 0 && item.record >= cursor)) continue;
        hits[item.record] = {item.record, kept.row.id, item.row.seq, item.row.json};
      }
    }
    SearchPage page;
    for (const auto& [record, hit] : hits) {
      if (page.hits.size() == limit) {
        page.cursor = page.hits.back().record;
        break;
      }
      page.hits.push_back(hit);
    }
    return page;
  }

  Result<Removal> remove_visitor(std::string_view visitor) override {
    return remove_if([&](const Kept& kept) { return kept.row.visitor == visitor; }, contents_.kept.size());
  }

  Result<Removal> expire(int64_t before_ms, uint32_t conversations_max) override {
    // Those first that have been quiet longest.
    std::vector<int64_t> closed;
    for (const auto& [record, kept] : contents_.kept) {
      const bool old = kept.row.state == ConversationState::closed && kept.row.last_ms < before_ms;
      if (old) closed.push_back(kept.row.last_ms);
    }
    std::ranges::sort(closed);
    if (closed.size() > conversations_max) closed.resize(conversations_max);
    return remove_if(
        [&](const Kept& kept) {
          return kept.row.state == ConversationState::closed && !closed.empty() &&
                 kept.row.last_ms <= closed.back();
        },
        conversations_max);
  }

  Status backup(const std::string& /*path*/) override { return {}; }

 private:
  Kept* find(std::string_view id) {
    for (auto& [record, kept] : contents_.kept) {
      if (kept.row.id == id) return &kept;
    }
    return nullptr;
  }

  template <class Condition>
  Removal remove_if(const Condition& condition, size_t most) {
    Removal removal;
    std::erase_if(contents_.kept, [&](const auto& entry) {
      if (removal.conversations == most || !condition(entry.second)) return false;
      ++removal.conversations;
      removal.items += entry.second.items.size();
      removal.bytes += entry.second.row.json.size();
      for (const KeptItem& item : entry.second.items) removal.bytes += item.row.json.size();
      return true;
    });
    return removal;
  }

  void take(const StoredRecord& record, const ConversationFacts& facts) {
    Kept* kept = find(facts.conversation);
    if (kept == nullptr) {
      kept = &contents_.kept[record.sequence];
      kept->row.record = record.sequence;
      kept->row.id = facts.conversation;
      kept->row.opened_ms = kept->row.last_ms = record.time_ms;
    }
    kept->row.visitor = facts.visitor;
    kept->row.group = facts.group;
    kept->row.json = facts.json;
  }

  void take(const StoredRecord& record, const Item& item) {
    Kept* kept = find(item.conversation);
    if (kept == nullptr) return;
    ConversationRow& row = kept->row;
    row.epoch = item.epoch;
    row.seq = item.seq;
    row.last_ms = item.ts_ms;
    if (!item.group.empty()) row.group = item.group;
    using enum EventKind;
    if (item.event == opened || item.event == reopened || item.event == requeued ||
        (item.event == transferred && item.agent.empty())) {
      row.state = ConversationState::queued;
      row.agent.clear();
    } else if (item.event == assigned || item.event == transferred) {
      row.state = ConversationState::assigned;
      row.agent = item.agent;
    } else if (item.event == accepted) {
      row.state = ConversationState::active;
      row.agent = item.agent;
    } else if (item.event == closed) {
      row.state = ConversationState::closed;
    }
    kept->items.push_back({record.sequence,
                           std::string(item.text),
                           {item.epoch, item.seq, item.ts_ms, item.kind, std::string(item.json)}});
  }

  void take(const Receipts& marks) {
    Kept* kept = find(marks.conversation);
    if (kept == nullptr) return;
    const auto raise = [](uint64_t& mark, uint64_t to) { mark = std::max(mark, to); };
    raise(kept->row.visitor_delivered, marks.visitor_delivered);
    raise(kept->row.visitor_read, marks.visitor_read);
    raise(kept->row.agent_delivered, marks.agent_delivered);
    raise(kept->row.agent_read, marks.agent_read);
  }

  Contents contents_;
};

}  // namespace taut::store
