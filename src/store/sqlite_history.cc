#include "store/sqlite_history.h"

#include <filesystem>
#include <utility>
#include <variant>
#include <vector>

#include "base/file.h"
#include "base/identity.h"
#include "store/conversation_columns.h"
#include "store/sqlite_schema.h"

namespace taut::store {

// -- opening
// -------------------------------------------------------------------------------------------------

Result<std::unique_ptr<SqliteHistory>> SqliteHistory::open(const std::string& path) {
  std::unique_ptr<SqliteHistory> history(new SqliteHistory());
  if (const Status opened = history->database_.open(path); !opened) return std::unexpected(opened.error());
  if (const Status ready = history->prepare(); !ready) return std::unexpected(ready.error());
  return history;
}

Status SqliteHistory::prepare() {
  if (Status ready = prepare_sqlite_schema(database_); !ready) return ready;
  const std::string select_conversation =
      "SELECT " + std::string(kConversationColumns) + " FROM conversations c WHERE c.id = ?1";
  const std::pair<SqliteStatement*, std::string_view> statements[] = {
      {&insert_facts_,
       "INSERT INTO conversations (record, id, visitor, group_name, opened_ms, last_ms, json) "
       "VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6) ON CONFLICT (id) DO UPDATE "
       "SET visitor = excluded.visitor, group_name = excluded.group_name, json = excluded.json"},
      {&insert_item_,
       "INSERT INTO items (record, conversation, seq, epoch, ts_ms, kind, sender_kind, sender, event, agent, "
       "text, json) SELECT ?1, record, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12 "
       "FROM conversations WHERE id = ?2 AND record < ?1"},
      {&index_text_, "INSERT INTO items_text (rowid, text) VALUES (?1, ?2)"},
      {&update_conversation_,
       "UPDATE conversations SET state = coalesce(?2, state), agent = coalesce(?3, agent), "
       "group_name = coalesce(?4, group_name), epoch = coalesce(?5, epoch), seq = coalesce(?6, seq), "
       "last_ms = coalesce(?7, last_ms), visitor_delivered = max(visitor_delivered, ?8), "
       "visitor_read = max(visitor_read, ?9), agent_delivered = max(agent_delivered, ?10), "
       "agent_read = max(agent_read, ?11) WHERE id = ?1"},
      {&update_position_, "UPDATE journal SET position = ?1"},
      {&items_after_,
       "SELECT epoch, seq, ts_ms, kind, json FROM items "
       "WHERE conversation = (SELECT record FROM conversations WHERE id = ?1) AND seq > ?2 "
       "ORDER BY seq LIMIT ?3"},
      {&items_before_,
       "SELECT epoch, seq, ts_ms, kind, json FROM items "
       "WHERE conversation = (SELECT record FROM conversations WHERE id = ?1) AND seq < ?2 "
       "ORDER BY seq DESC LIMIT ?3"},
      {&select_conversation_, select_conversation},
      {&of_visitor_, "SELECT record FROM conversations WHERE visitor = ?1"},
      {&closed_before_,
       "SELECT record FROM conversations INDEXED BY conversations_closed "
       "WHERE state = 3 AND last_ms < ?1 ORDER BY last_ms LIMIT ?2"},
      {&measure_,
       "SELECT count(*), coalesce(sum(length(CAST(json AS BLOB))), 0) + "
       "(SELECT length(CAST(json AS BLOB)) FROM conversations WHERE record = ?1) "
       "FROM items WHERE conversation = ?1"},
      {&unindex_texts_,
       "INSERT INTO items_text (items_text, rowid, text) "
       "SELECT 'delete', record, text FROM items WHERE conversation = ?1 AND text <> ''"},
      {&delete_items_, "DELETE FROM items WHERE conversation = ?1"},
      {&delete_conversation_, "DELETE FROM conversations WHERE record = ?1"},
      {&merge_text_, "INSERT INTO items_text (items_text, rank) VALUES ('merge', ?1)"},
  };
  for (const auto& [statement, sql] : statements) {
    Result<SqliteStatement> prepared = database_.prepare(sql);
    if (!prepared) return std::unexpected(prepared.error());
    *statement = *std::move(prepared);
  }
  const Result<int64_t> position = database_.integer("SELECT position FROM journal");
  if (!position) return std::unexpected(position.error());
  position_ = static_cast<uint64_t>(*position);
  return {};
}

// -- writing
// -------------------------------------------------------------------------------------------------

Status SqliteHistory::apply(std::span<const StoredRecord> records) {
  const Result<Batch> batch = fold(records, position_);
  if (!batch) return std::unexpected(batch.error());
  if (batch->position == position_) return {};
  SqliteTransaction transaction(database_);
  if (Status begun = transaction.begin(); !begun) return begun;
  for (const std::string_view visitor : batch->forgotten) {
    if (const Result<Removal> gone = remove_selected_visitor(visitor); !gone)
      return std::unexpected(gone.error());
  }
  for (const Batch::Facts& facts : batch->facts) {
    if (Status written = write_facts(facts); !written) return written;
  }
  for (const StoredRecord* item : batch->items) {
    if (Status written = write_item(*item); !written) return written;
  }
  for (const Batch::Change& change : batch->changes) {
    if (Status written = write_change(change); !written) return written;
  }
  if (Status written = update_position_.with(batch->position).run(); !written) return written;
  if (Status committed = transaction.commit(); !committed) return committed;
  position_ = batch->position;
  return {};
}

Status SqliteHistory::sync() {
  const Result<int64_t> held_up = database_.integer("PRAGMA wal_checkpoint(FULL)");
  if (!held_up) return std::unexpected(held_up.error());
  if (*held_up != 0) return fail(database_.path() + ": another process reads an old state of it");
  return {};
}

Status SqliteHistory::write_facts(const Batch::Facts& row) {
  const ConversationFacts& facts = row.facts;
  return insert_facts_
      .with(row.record, facts.conversation, facts.visitor, facts.group, row.opened_ms, facts.json)
      .run();
}

Status SqliteHistory::write_item(const StoredRecord& record) {
  const Item& item = std::get<Item>(record.content);
  const Status written =
      insert_item_
          .with(record.sequence, item.conversation, item.seq, item.epoch, item.ts_ms, item.kind,
                item.sender_kind, item.sender, item.event, item.agent, item.text, item.json)
          .run();
  if (!written) {
    return fail("item " + std::to_string(item.seq) + " of " + std::string(item.conversation) + ": " +
                written.error().message);
  }
  const bool kept = database_.changes() == 1;
  if (!kept || item.text.empty()) return {};
  return index_text_.with(record.sequence, item.text).run();
}

Status SqliteHistory::write_change(const Batch::Change& change) {
  const auto of_item = [&](auto value) { return change.seq == 0 ? std::nullopt : std::optional(value); };
  const Receipts& receipts = change.receipts;
  return update_conversation_
      .with(change.conversation, change.state, change.agent, change.group, of_item(change.epoch),
            of_item(change.seq), of_item(change.last_ms), receipts.visitor_delivered, receipts.visitor_read,
            receipts.agent_delivered, receipts.agent_read)
      .run();
}

// -- removing
// ------------------------------------------------------------------------------------------------

Result<Removal> SqliteHistory::remove_visitor(std::string_view visitor) {
  if (!valid_id(visitor)) return fail("visitor: is no id");
  return committed([&] { return remove_selected_visitor(visitor); });
}

/// Deleted texts stay in the index until it is merged: that they are there is part of the transaction.
Result<Removal> SqliteHistory::remove_selected_visitor(std::string_view visitor) {
  Result<Removal> removal = remove_selected(of_visitor_.with(visitor));
  if (!removal || removal->conversations == 0) return removal;
  if (const Status noted = database_.run("INSERT OR REPLACE INTO to_wipe VALUES (1, 0)"); !noted)
    return std::unexpected(noted.error());
  return removal;
}

Result<Removal> SqliteHistory::expire(int64_t before_ms, uint32_t conversations_max) {
  return committed([&] { return remove_selected(closed_before_.with(before_ms, conversations_max)); });
}

Result<Removal> SqliteHistory::committed(const std::function<Result<Removal>()>& remove) {
  SqliteTransaction transaction(database_);
  if (const Status begun = transaction.begin(); !begun) return std::unexpected(begun.error());
  Result<Removal> removal = remove();
  if (!removal) return removal;
  if (const Status committed = transaction.commit(); !committed) return std::unexpected(committed.error());
  return removal;
}

Result<Removal> SqliteHistory::remove_selected(SqliteStatement& select) {
  std::vector<int64_t> records;
  {
    SqliteRows rows = select.rows();
    while (true) {
      const Result<bool> row = rows.next();
      if (!row) return std::unexpected(row.error());
      if (!*row) break;
      records.push_back(rows.integer(0));
    }
  }
  Removal removal;
  for (const int64_t record : records) {
    if (const Status gone = remove_conversation(record, removal); !gone) return std::unexpected(gone.error());
  }
  return removal;
}

Status SqliteHistory::remove_conversation(int64_t record, Removal& removal) {
  {
    SqliteRows rows = measure_.with(record).rows();
    const Result<bool> row = rows.next();
    if (!row) return std::unexpected(row.error());
    ++removal.conversations;
    removal.items += rows.number(0);
    removal.bytes += rows.number(1);
  }
  for (SqliteStatement* statement : {&unindex_texts_, &delete_items_, &delete_conversation_}) {
    if (Status done = statement->with(record).run(); !done) return done;
  }
  return {};
}

/// Merges the text index into one piece, in which deleted texts have no place, some pages at a time; a
/// negative number begins that. Then all is written anew, since secure_delete leaves remains in pages that
/// were balanced, and the log goes, in which older pages are.
Result<bool> SqliteHistory::wipe_some() {
  constexpr int64_t kPagesAtOnce = 500;
  // FTS5's way to say that nothing is left to merge.
  constexpr int64_t kChangesOfNothing = 2;
  const Result<int64_t> state = database_.integer("SELECT coalesce((SELECT begun FROM to_wipe), -1)");
  if (!state) return std::unexpected(state.error());
  if (*state < 0) return false;
  SqliteTransaction transaction(database_);
  if (const Status begun = transaction.begin(); !begun) return std::unexpected(begun.error());
  const int64_t changes = database_.total_changes();
  if (const Status merged = merge_text_.with(*state == 0 ? -kPagesAtOnce : kPagesAtOnce).run(); !merged)
    return std::unexpected(merged.error());
  const bool merged_all = database_.total_changes() - changes < kChangesOfNothing;
  if (const Status noted = database_.run("UPDATE to_wipe SET begun = 1"); !noted)
    return std::unexpected(noted.error());
  if (const Status committed = transaction.commit(); !committed) return std::unexpected(committed.error());
  if (!merged_all) return true;
  if (const Status rewritten = database_.run("VACUUM"); !rewritten) return std::unexpected(rewritten.error());
  const Result<int64_t> held_up = database_.integer("PRAGMA wal_checkpoint(TRUNCATE)");
  if (!held_up) return std::unexpected(held_up.error());
  if (*held_up != 0) return fail(database_.path() + ": another process reads it, and its log stays");
  if (const Status done = database_.run("DELETE FROM to_wipe"); !done) return std::unexpected(done.error());
  return false;
}

// -- copying
// -------------------------------------------------------------------------------------------------

Status SqliteHistory::backup(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return fail(path + ": is there already");
  const std::string unfinished = path + ".unfinished";
  std::filesystem::remove(unfinished, error);  // of a backup that did not get to its end
  if (const Status copied = database_.copy_to(unfinished); !copied) {
    std::filesystem::remove(unfinished, error);
    return copied;
  }
  std::filesystem::rename(unfinished, path, error);
  if (error) return fail(path + ": " + error.message());
  const std::string directory = std::filesystem::path(path).parent_path();
  return PosixFileSystem().sync_directory(directory.empty() ? "." : directory);
}

}  // namespace taut::store
