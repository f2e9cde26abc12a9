// What is asked of a PostgreSQL history (the questions of store/postgres_history.h).
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "store/conversation_columns.h"
#include "store/postgres_history.h"
#include "store/search_text.h"

namespace taut::store {

namespace {

constexpr uint64_t kSeqMax = std::numeric_limits<int64_t>::max();

/// Of kConversationColumns.
ConversationRow conversation_row(const PostgresRows& rows, int row) {
  return {.record = rows.number(row, 0),
          .id = std::string(rows.text(row, 1)),
          .visitor = std::string(rows.text(row, 2)),
          .group = std::string(rows.text(row, 3)),
          .state = static_cast<ConversationState>(rows.integer(row, 4)),
          .agent = std::string(rows.text(row, 5)),
          .opened_ms = rows.integer(row, 6),
          .last_ms = rows.integer(row, 7),
          .epoch = rows.number(row, 8),
          .seq = rows.number(row, 9),
          .visitor_delivered = rows.number(row, 10),
          .visitor_read = rows.number(row, 11),
          .agent_delivered = rows.number(row, 12),
          .agent_read = rows.number(row, 13),
          .json = std::string(rows.text(row, 14))};
}

ItemRow item_row(const PostgresRows& rows, int row, Audience audience) {
  const auto kind = static_cast<ItemKind>(rows.integer(row, 3));
  const bool hidden = audience == Audience::visitor && kind == ItemKind::note;
  return {.epoch = rows.number(row, 0),
          .seq = rows.number(row, 1),
          .ts_ms = rows.integer(row, 2),
          .kind = kind,
          .json = hidden ? std::string() : std::string(rows.text(row, 4))};
}

}  // namespace

Result<bool> PostgresHistory::has_text_index() {
  const Result<PostgresRows> row = connection_.query("SELECT to_regclass('taut.items_text') IS NOT NULL");
  if (!row) return std::unexpected(row.error());
  return row->text(0, 0) == "t";
}

Result<ItemPage> PostgresHistory::items(std::string_view conversation, const ItemRange& range,
                                        Audience audience) {
  TAUT_ASSERT(range.limit >= 1 && range.limit <= kPageMax);
  if (const Status open = ready(); !open) return std::unexpected(open.error());
  const bool before = range.side == ItemRange::Side::before;
  const uint64_t seq = before && range.seq == 0 ? kSeqMax : range.seq;
  const std::string sql = std::string(
                              "SELECT epoch, seq, ts_ms, kind, json FROM taut.items WHERE conversation = "
                              "(SELECT record FROM taut.conversations WHERE id = $1) AND seq ") +
                          (before ? "< $2::bigint ORDER BY seq DESC" : "> $2::bigint ORDER BY seq") +
                          " LIMIT $3::bigint";
  const Result<PostgresRows> rows =
      connection_.query(sql, {conversation, std::to_string(seq), std::to_string(range.limit + 1)});
  if (!rows) return std::unexpected(rows.error());
  ItemPage page;
  page.more = rows->count() > static_cast<int>(range.limit);
  const int count = std::min(rows->count(), static_cast<int>(range.limit));
  for (int row = 0; row < count; ++row) page.items.push_back(item_row(*rows, row, audience));
  if (before) std::ranges::reverse(page.items);
  return page;
}

Result<std::optional<ConversationRow>> PostgresHistory::conversation(std::string_view id) {
  if (const Status open = ready(); !open) return std::unexpected(open.error());
  const Result<PostgresRows> rows = connection_.query(
      "SELECT " + std::string(kConversationColumns) + " FROM taut.conversations c WHERE c.id = $1", {id});
  if (!rows) return std::unexpected(rows.error());
  if (rows->count() == 0) return std::nullopt;
  return conversation_row(*rows, 0);
}

Result<ConversationPage> PostgresHistory::conversations(const ConversationFilter& filter) {
  TAUT_ASSERT(filter.limit >= 1 && filter.limit <= kPageMax);
  const bool by_text = !filter.text.empty();
  if (by_text) {
    if (const Status good = check_search_text(filter.text); !good) return std::unexpected(good.error());
  }
  const Result<uint64_t> end = position();
  if (!end) return std::unexpected(end.error());
  const Result<bool> index = has_text_index();
  if (!index) return std::unexpected(index.error());
  const bool indexed = !by_text || (*index && has_trigram(filter.text));
  const ScanWindow window = scan_window(filter.cursor, *end, indexed);
  std::string sql = "SELECT " + std::string(kConversationColumns) +
                    " FROM taut.conversations c WHERE c.record >= $1::bigint AND c.record < $2::bigint";
  if (filter.state) sql += " AND c.state = $4::smallint";
  if (!filter.agent.empty()) sql += " AND c.agent = $5";
  if (!filter.visitor.empty()) sql += " AND c.visitor = $6";
  if (by_text && indexed) {
    sql += " AND c.record IN (SELECT i.conversation FROM taut.items i WHERE i.text ILIKE $7)";
  } else if (by_text) {
    sql += " AND EXISTS (SELECT 1 FROM taut.items i WHERE i.conversation = c.record AND i.text ILIKE $7)";
  }
  sql += " ORDER BY c.record DESC LIMIT $3::bigint";
  const auto state = static_cast<int>(filter.state.value_or(ConversationState::queued));
  const Result<PostgresRows> rows = connection_.query(
      sql, {std::to_string(window.from), std::to_string(window.below), std::to_string(filter.limit + 1),
            std::to_string(state), filter.agent, filter.visitor, like_pattern(filter.text)});
  if (!rows) return std::unexpected(rows.error());
  ConversationPage page{.conversations = {}, .cursor = window.next_cursor};
  const int count = std::min(rows->count(), static_cast<int>(filter.limit));
  for (int row = 0; row < count; ++row) page.conversations.push_back(conversation_row(*rows, row));
  if (rows->count() > count) page.cursor = page.conversations.back().record;
  return page;
}

Result<SearchPage> PostgresHistory::search(std::string_view text, uint64_t cursor, uint32_t limit) {
  TAUT_ASSERT(limit >= 1 && limit <= kPageMax);
  if (const Status good = check_search_text(text); !good) return std::unexpected(good.error());
  const Result<uint64_t> end = position();
  if (!end) return std::unexpected(end.error());
  const Result<bool> index = has_text_index();
  if (!index) return std::unexpected(index.error());
  const ScanWindow window = scan_window(cursor, *end, *index && has_trigram(text));
  const Result<PostgresRows> rows = connection_.query(
      "SELECT i.record, c.id, i.seq, i.json FROM taut.items i JOIN taut.conversations c "
      "ON c.record = i.conversation WHERE i.record >= $1::bigint AND i.record < $2::bigint "
      "AND i.text ILIKE $4 ORDER BY i.record DESC LIMIT $3::bigint",
      {std::to_string(window.from), std::to_string(window.below), std::to_string(limit + 1),
       like_pattern(text)});
  if (!rows) return std::unexpected(rows.error());
  SearchPage page{.hits = {}, .cursor = window.next_cursor};
  const int count = std::min(rows->count(), static_cast<int>(limit));
  for (int row = 0; row < count; ++row) {
    page.hits.push_back({.record = rows->number(row, 0),
                         .conversation = std::string(rows->text(row, 1)),
                         .seq = rows->number(row, 2),
                         .json = std::string(rows->text(row, 3))});
  }
  if (rows->count() > count) page.cursor = page.hits.back().record;
  return page;
}

}  // namespace taut::store
