#include "store/postgres_history.h"

#include <postgresql/libpq-fe.h>

#include <utility>
#include <variant>

#include "base/identity.h"
#include "store/postgres_schema.h"

namespace taut::store {

namespace {

// From this session's tables into the real ones, in this order.
constexpr const char* kMerge[] = {
    "INSERT INTO taut.conversations (record, id, visitor, group_name, opened_ms, last_ms, json) "
    "SELECT record, id, visitor, group_name, opened_ms, opened_ms, json FROM new_facts "
    "ON CONFLICT (id) DO UPDATE SET visitor = excluded.visitor, group_name = excluded.group_name, "
    "json = excluded.json",

    "INSERT INTO taut.items (record, conversation, seq, epoch, ts_ms, kind, sender_kind, sender, event, "
    "agent, "
    "text, json) SELECT n.record, c.record, n.seq, n.epoch, n.ts_ms, n.kind, n.sender_kind, n.sender, "
    "n.event, "
    "n.agent, n.text, n.json FROM new_items n JOIN taut.conversations c ON c.id = n.id AND c.record < "
    "n.record",

    "UPDATE taut.conversations c SET state = coalesce(n.state, c.state), agent = coalesce(n.agent, c.agent), "
    "group_name = coalesce(n.group_name, c.group_name), epoch = coalesce(n.epoch, c.epoch), "
    "seq = coalesce(n.seq, c.seq), last_ms = coalesce(n.last_ms, c.last_ms), "
    "visitor_delivered = greatest(c.visitor_delivered, n.visitor_delivered), "
    "visitor_read = greatest(c.visitor_read, n.visitor_read), "
    "agent_delivered = greatest(c.agent_delivered, n.agent_delivered), "
    "agent_read = greatest(c.agent_read, n.agent_read) FROM new_changes n WHERE c.id = n.id",
};

constexpr const char* kOfVisitor = "SELECT record FROM taut.conversations WHERE visitor = $1";

std::string facts_lines(const Batch& batch) {
  CopyLines lines;
  for (const Batch::Facts& row : batch.facts) {
    lines.number(row.record).text(row.facts.conversation).text(row.facts.visitor).text(row.facts.group);
    lines.integer(row.opened_ms).text(row.facts.json).end_line();
  }
  return std::move(lines).take();
}

std::string item_lines(const Batch& batch) {
  CopyLines lines;
  for (const StoredRecord* record : batch.items) {
    const Item& item = std::get<Item>(record->content);
    lines.number(record->sequence).text(item.conversation).number(item.seq).number(item.epoch);
    lines.integer(item.ts_ms).integer(static_cast<int64_t>(item.kind));
    lines.integer(static_cast<int64_t>(item.sender_kind)).text(item.sender);
    lines.integer(static_cast<int64_t>(item.event))
        .text(item.agent)
        .text(item.text)
        .text(item.json)
        .end_line();
  }
  return std::move(lines).take();
}

std::string change_lines(const Batch& batch) {
  CopyLines lines;
  for (const Batch::Change& change : batch.changes) {
    lines.text(change.conversation);
    change.state ? lines.integer(static_cast<int64_t>(*change.state)) : lines.null();
    change.agent ? lines.text(*change.agent) : lines.null();
    change.group ? lines.text(*change.group) : lines.null();
    if (change.seq == 0) {
      lines.null().null().null();
    } else {
      lines.number(change.epoch).number(change.seq).integer(change.last_ms);
    }
    const Receipts& receipts = change.receipts;
    lines.number(receipts.visitor_delivered).number(receipts.visitor_read);
    lines.number(receipts.agent_delivered).number(receipts.agent_read).end_line();
  }
  return std::move(lines).take();
}

}  // namespace

// -- connecting
// ----------------------------------------------------------------------------------------------

Result<std::unique_ptr<PostgresHistory>> PostgresHistory::open(const std::string& url,
                                                               const Options& options) {
  // What libpq says of a bad URL quotes parts of it, the password perhaps.
  PQconninfoOption* parsed = PQconninfoParse(url.c_str(), nullptr);
  if (parsed == nullptr) return fail("PostgreSQL URL: is none; write postgresql://user@host/database");
  PQconninfoFree(parsed);
  return std::unique_ptr<PostgresHistory>(new PostgresHistory(url, options));
}

Status PostgresHistory::ready() {
  connection_.notice_loss();
  if (connection_.is_open()) return {};
  if (Status opened = connection_.open(url_, options_.connect_timeout_s); !opened) return opened;
  Status prepared = prepare_postgres_session(connection_, options_.statement_timeout_ms);
  if (!prepared) connection_.close();
  return prepared;
}

Result<uint64_t> PostgresHistory::position() {
  if (const Status open = ready(); !open) return std::unexpected(open.error());
  const Result<PostgresRows> row = connection_.query("SELECT position FROM taut.journal");
  if (!row) return std::unexpected(row.error());
  return row->number(0, 0);
}

// -- writing
// -------------------------------------------------------------------------------------------------

Status PostgresHistory::apply(std::span<const StoredRecord> records) {
  if (Status open = ready(); !open) return open;
  PostgresTransaction transaction(connection_);
  if (Status begun = transaction.begin(); !begun) return begun;
  const Result<PostgresRows> row = connection_.query("SELECT position FROM taut.journal FOR UPDATE");
  if (!row) return std::unexpected(row.error());
  const Result<Batch> batch = fold(records, row->number(0, 0));
  if (!batch) return std::unexpected(batch.error());
  if (batch->position == row->number(0, 0)) return {};
  for (const std::string_view visitor : batch->forgotten) {
    if (const Result<Removal> gone = remove_selected(kOfVisitor, {visitor}); !gone)
      return std::unexpected(gone.error());
  }
  if (Status copied = copy_in(*batch); !copied) return copied;
  for (const char* merge : kMerge) {
    if (Status merged = connection_.run(merge); !merged) return merged;
  }
  const Result<PostgresRows> moved =
      connection_.query("UPDATE taut.journal SET position = $1::bigint", {std::to_string(batch->position)});
  if (!moved) return std::unexpected(moved.error());
  return transaction.commit();
}

/// A commit has been synced when it returns, unless the server was told not to.
Status PostgresHistory::sync() {
  return {};
}

Status PostgresHistory::copy_in(const Batch& batch) {
  const std::pair<const char*, std::string> tables[] = {
      {"COPY new_facts FROM STDIN", facts_lines(batch)},
      {"COPY new_items FROM STDIN", item_lines(batch)},
      {"COPY new_changes FROM STDIN", change_lines(batch)},
  };
  for (const auto& [sql, lines] : tables) {
    if (Status copied = connection_.copy(sql, lines); !copied) return copied;
  }
  return {};
}

// -- removing
// ------------------------------------------------------------------------------------------------

Result<Removal> PostgresHistory::remove_visitor(std::string_view visitor) {
  if (!valid_id(visitor)) return fail("visitor: is no id");
  return remove(kOfVisitor, {visitor});
}

Result<Removal> PostgresHistory::expire(int64_t before_ms, uint32_t conversations_max) {
  return remove(
      "SELECT record FROM taut.conversations WHERE state = 3 AND last_ms < $1::bigint "
      "ORDER BY last_ms LIMIT $2::bigint",
      {std::to_string(before_ms), std::to_string(conversations_max)});
}

Result<Removal> PostgresHistory::remove(const std::string& select,
                                        std::initializer_list<std::string_view> values) {
  if (const Status open = ready(); !open) return std::unexpected(open.error());
  return remove_selected(select, values);
}

Result<Removal> PostgresHistory::remove_selected(const std::string& select,
                                                 std::initializer_list<std::string_view> values) {
  const Result<PostgresRows> row = connection_.query(
      "WITH gone AS (DELETE FROM taut.conversations WHERE record IN (" + select +
          ") RETURNING record, octet_length(json) AS bytes), "
          "gone_items AS (DELETE FROM taut.items i USING gone WHERE i.conversation = gone.record "
          "RETURNING octet_length(i.json) AS bytes) "
          "SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM gone_items), "
          "(SELECT coalesce(sum(bytes), 0) FROM gone) + (SELECT coalesce(sum(bytes), 0) FROM gone_items)",
      values);
  if (!row) return std::unexpected(row.error());
  return Removal{.conversations = row->number(0, 0), .items = row->number(0, 1), .bytes = row->number(0, 2)};
}

Status PostgresHistory::backup(const std::string& /*path*/) {
  return fail("PostgreSQL: back it up with pg_dump --schema=taut, or with the whole database");
}

}  // namespace taut::store
