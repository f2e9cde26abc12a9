// History in one SQLite file: the default, with nothing to install or to run.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "store/batch.h"
#include "store/history.h"
#include "store/sqlite_database.h"

namespace taut::store {

/// WAL, a trigram index for search, schema version in user_version: docs/decisions/0010-history-store.md.
/// Calls wait at most SqliteDatabase::kBusyMsMax for a lock of another process.
class SqliteHistory final : public HistoryStore {
 public:
  /// The file is made if it is not there. Errors: damaged (it can be deleted: it is rebuilt from the
  /// journal), another program's, a newer taut's, not accessible.
  [[nodiscard]] static Result<std::unique_ptr<SqliteHistory>> open(const std::string& path);

  [[nodiscard]] Result<uint64_t> position() override { return position_; }
  [[nodiscard]] Status apply(std::span<const StoredRecord> records) override;
  [[nodiscard]] Status sync() override;
  [[nodiscard]] Result<ItemPage> items(std::string_view conversation, const ItemRange& range,
                                       Audience audience) override;
  [[nodiscard]] Result<std::optional<ConversationRow>> conversation(std::string_view id) override;
  [[nodiscard]] Result<ConversationPage> conversations(const ConversationFilter& filter) override;
  [[nodiscard]] Result<SearchPage> search(std::string_view text, uint64_t cursor, uint32_t limit) override;
  [[nodiscard]] Result<Removal> remove_visitor(std::string_view visitor) override;
  [[nodiscard]] Result<Removal> expire(int64_t before_ms, uint32_t conversations_max) override;
  [[nodiscard]] Result<bool> wipe_some() override;
  void interrupt() override { database_.interrupt(); }
  [[nodiscard]] Status backup(const std::string& path) override;

 private:
  SqliteHistory() = default;
  [[nodiscard]] Status prepare();
  [[nodiscard]] Status write_facts(const Batch::Facts& facts);
  [[nodiscard]] Status write_item(const StoredRecord& record);
  [[nodiscard]] Status write_change(const Batch::Change& change);
  /// What `remove` does, in one transaction.
  [[nodiscard]] Result<Removal> committed(const std::function<Result<Removal>()>& remove);
  /// `select` gives conversations.record of what is to go. REQUIRES: a transaction.
  [[nodiscard]] Result<Removal> remove_selected(SqliteStatement& select);
  [[nodiscard]] Result<Removal> remove_selected_visitor(std::string_view visitor);
  [[nodiscard]] Status remove_conversation(int64_t record, Removal& removal);

  SqliteDatabase database_;  // before the statements: they go first
  SqliteStatement insert_facts_;
  SqliteStatement insert_item_;
  SqliteStatement index_text_;
  SqliteStatement update_conversation_;
  SqliteStatement update_position_;
  SqliteStatement items_after_;
  SqliteStatement items_before_;
  SqliteStatement select_conversation_;
  SqliteStatement of_visitor_;
  SqliteStatement closed_before_;
  SqliteStatement measure_;
  SqliteStatement unindex_texts_;
  SqliteStatement delete_items_;
  SqliteStatement delete_conversation_;
  SqliteStatement merge_text_;
  uint64_t position_ = 0;
};

}  // namespace taut::store
