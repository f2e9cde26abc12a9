// What is asked of a SQLite history (the questions of store/sqlite_history.h).
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "store/conversation_columns.h"
#include "store/search_text.h"
#include "store/sqlite_history.h"

namespace taut::store {

namespace {

constexpr uint64_t kSqliteSeqMax = std::numeric_limits<int64_t>::max();

/// Of kConversationColumns.
ConversationRow sqlite_conversation_row(const SqliteRows& rows) {
  return {.record = rows.number(0),
          .id = std::string(rows.text(1)),
          .visitor = std::string(rows.text(2)),
          .group = std::string(rows.text(3)),
          .state = static_cast<ConversationState>(rows.integer(4)),
          .agent = std::string(rows.text(5)),
          .opened_ms = rows.integer(6),
          .last_ms = rows.integer(7),
          .epoch = rows.number(8),
          .seq = rows.number(9),
          .visitor_delivered = rows.number(10),
          .visitor_read = rows.number(11),
          .agent_delivered = rows.number(12),
          .agent_read = rows.number(13),
          .json = std::string(rows.text(14))};
}

/// As a phrase of FTS5: nothing in it is an operator.
std::string quoted(std::string_view text) {
  std::string phrase = "\"";
  for (const char c : text) {
    if (c == '"') phrase += '"';
    phrase += c;
  }
  return phrase + "\"";
}

/// What stands for the text in a statement: a phrase for the index, or a pattern to compare with.
std::string operand(std::string_view text) {
  return has_trigram(text) ? quoted(text) : like_pattern(text);
}

/// All rows of a run, each made by `make`.
template <class Row, class Make>
Result<std::vector<Row>> collect(SqliteRows rows, Make&& make) {
  std::vector<Row> all;
  while (true) {
    const Result<bool> row = rows.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return all;
    all.push_back(make(rows));
  }
}

}  // namespace

Result<ItemPage> SqliteHistory::items(std::string_view conversation, const ItemRange& range,
                                      Audience audience) {
  TAUT_ASSERT(range.limit >= 1 && range.limit <= kPageMax);
  const bool before = range.side == ItemRange::Side::before;
  const uint64_t seq = before && range.seq == 0 ? kSqliteSeqMax : range.seq;
  SqliteStatement& statement = before ? items_before_ : items_after_;
  const auto item_row = [&](const SqliteRows& rows) {
    const auto kind = static_cast<ItemKind>(rows.integer(3));
    const bool hidden = audience == Audience::visitor && kind == ItemKind::note;
    return ItemRow{.epoch = rows.number(0),
                   .seq = rows.number(1),
                   .ts_ms = rows.integer(2),
                   .kind = kind,
                   .json = hidden ? std::string() : std::string(rows.text(4))};
  };
  Result<std::vector<ItemRow>> rows =
      collect<ItemRow>(statement.with(conversation, seq, range.limit + 1).rows(), item_row);
  if (!rows) return std::unexpected(rows.error());
  ItemPage page{.items = *std::move(rows)};
  page.more = page.items.size() > range.limit;
  if (page.more) page.items.pop_back();
  if (before) std::ranges::reverse(page.items);
  return page;
}

Result<std::optional<ConversationRow>> SqliteHistory::conversation(std::string_view id) {
  SqliteRows rows = select_conversation_.with(id).rows();
  const Result<bool> row = rows.next();
  if (!row) return std::unexpected(row.error());
  if (!*row) return std::nullopt;
  return sqlite_conversation_row(rows);
}

Result<ConversationPage> SqliteHistory::conversations(const ConversationFilter& filter) {
  TAUT_ASSERT(filter.limit >= 1 && filter.limit <= kPageMax);
  const bool by_text = !filter.text.empty();
  if (by_text) {
    if (const Status good = check_search_text(filter.text); !good) return std::unexpected(good.error());
  }
  const ScanWindow window = scan_window(filter.cursor, position_, !by_text || has_trigram(filter.text));
  std::string sql = "SELECT ";
  sql.append(kConversationColumns).append(" FROM conversations c WHERE c.record >= ?1 AND c.record < ?2");
  if (filter.state) sql += " AND c.state = ?4";
  if (!filter.agent.empty()) sql += " AND c.agent = ?5";
  if (!filter.visitor.empty()) sql += " AND c.visitor = ?6";
  if (by_text && has_trigram(filter.text)) {
    sql +=
        " AND c.record IN (SELECT i.conversation FROM items_text CROSS JOIN items i ON i.record = "
        "items_text.rowid WHERE items_text MATCH ?7)";
  } else if (by_text) {
    sql +=
        " AND EXISTS (SELECT 1 FROM items i WHERE i.conversation = c.record AND i.text LIKE ?7 ESCAPE '\\')";
  }
  sql += " ORDER BY c.record DESC LIMIT ?3";
  Result<SqliteStatement> statement = database_.prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  const std::string text = by_text ? operand(filter.text) : "";
  Result<std::vector<ConversationRow>> rows =
      collect<ConversationRow>(statement
                                   ->with(window.from, window.below, filter.limit + 1, filter.state,
                                          filter.agent, filter.visitor, text)
                                   .rows(),
                               sqlite_conversation_row);
  if (!rows) return std::unexpected(rows.error());
  ConversationPage page{.conversations = *std::move(rows), .cursor = window.next_cursor};
  if (page.conversations.size() > filter.limit) {
    page.conversations.pop_back();
    page.cursor = page.conversations.back().record;
  }
  return page;
}

Result<SearchPage> SqliteHistory::search(std::string_view text, uint64_t cursor, uint32_t limit) {
  TAUT_ASSERT(limit >= 1 && limit <= kPageMax);
  if (const Status good = check_search_text(text); !good) return std::unexpected(good.error());
  const bool indexed = has_trigram(text);
  const ScanWindow window = scan_window(cursor, position_, indexed);
  Result<SqliteStatement> statement = database_.prepare(
      indexed ? "SELECT i.record, c.id, i.seq, i.json FROM items_text CROSS JOIN items i "
                "ON i.record = items_text.rowid CROSS JOIN conversations c ON c.record = i.conversation "
                "WHERE items_text MATCH ?4 AND items_text.rowid >= ?1 AND items_text.rowid < ?2 "
                "ORDER BY items_text.rowid DESC LIMIT ?3"
              : "SELECT i.record, c.id, i.seq, i.json FROM items i CROSS JOIN conversations c "
                "ON c.record = i.conversation WHERE i.record >= ?1 AND i.record < ?2 "
                "AND i.text LIKE ?4 ESCAPE '\\' ORDER BY i.record DESC LIMIT ?3");
  if (!statement) return std::unexpected(statement.error());
  const auto hit = [](const SqliteRows& rows) {
    return SearchHit{.record = rows.number(0),
                     .conversation = std::string(rows.text(1)),
                     .seq = rows.number(2),
                     .json = std::string(rows.text(3))};
  };
  const std::string wanted = operand(text);
  Result<std::vector<SearchHit>> hits =
      collect<SearchHit>(statement->with(window.from, window.below, limit + 1, wanted).rows(), hit);
  if (!hits) return std::unexpected(hits.error());
  SearchPage page{.hits = *std::move(hits), .cursor = window.next_cursor};
  if (page.hits.size() > limit) {
    page.hits.pop_back();
    page.cursor = page.hits.back().record;
  }
  return page;
}

}  // namespace taut::store
