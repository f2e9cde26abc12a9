// History in a PostgreSQL database, for those who run one anyway.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "store/batch.h"
#include "store/history.h"
#include "store/postgres_connection.h"

namespace taut::store {

/// Everything is in the schema `taut`; search uses pg_trgm where it could be had when that was made. A call
/// that finds the connection lost makes a new one; while there is no server, each call says so and fails.
class PostgresHistory final : public HistoryStore {
 public:
  struct Options {
    uint32_t statement_timeout_ms = 30'000;  ///< longest statement; 0: for ever
    int connect_timeout_s = 5;
  };

  /// Does not connect: the first call does. Error: `url` is none (postgresql://user@host/database, or
  /// key=value pairs; see libpq). It may hold a password, and no error repeats it.
  [[nodiscard]] static Result<std::unique_ptr<PostgresHistory>> open(const std::string& url,
                                                                     const Options& options);

  [[nodiscard]] Result<uint64_t> position() override;
  /// After an error the records may be in it all the same, when the connection was lost at the last moment:
  /// to apply them again is right either way.
  [[nodiscard]] Status apply(std::span<const StoredRecord> records) override;
  [[nodiscard]] Status sync() override;
  [[nodiscard]] Result<ItemPage> items(std::string_view conversation, const ItemRange& range,
                                       Audience audience) override;
  [[nodiscard]] Result<std::optional<ConversationRow>> conversation(std::string_view id) override;
  [[nodiscard]] Result<ConversationPage> conversations(const ConversationFilter& filter) override;
  [[nodiscard]] Result<SearchPage> search(std::string_view text, uint64_t cursor, uint32_t limit) override;
  [[nodiscard]] Result<Removal> remove_visitor(std::string_view visitor) override;
  [[nodiscard]] Result<Removal> expire(int64_t before_ms, uint32_t conversations_max) override;
  void interrupt() override { connection_.interrupt(); }
  /// Always an error: pg_dump does it.
  [[nodiscard]] Status backup(const std::string& path) override;

 private:
  PostgresHistory(std::string url, const Options& options) : url_(std::move(url)), options_(options) {}
  /// Connected, and the session prepared.
  [[nodiscard]] Status ready();
  [[nodiscard]] Status copy_in(const Batch& batch);
  /// `select` gives taut.conversations.record of what is to go; $1, $2 are its values.
  [[nodiscard]] Result<Removal> remove(const std::string& select,
                                       std::initializer_list<std::string_view> values);
  /// The same within a transaction or as a statement of its own, on a connection that is ready.
  [[nodiscard]] Result<Removal> remove_selected(const std::string& select,
                                                std::initializer_list<std::string_view> values);
  [[nodiscard]] Result<bool> has_text_index();

  std::string url_;
  Options options_;
  PostgresConnection connection_;
};

}  // namespace taut::store
