// SQLite with a write-ahead log that is synced at each commit.
#include "journal_compare/arm.h"

#ifdef TAUT_WITH_sqlite3

#include <sqlite3.h>

namespace taut::compare {

namespace {

class SqliteArm final : public Arm {
 public:
  ~SqliteArm() override {
    sqlite3_finalize(insert_);
    sqlite3_close(database_);
  }

  [[nodiscard]] Status open(const std::string& path) {
    if (sqlite3_open(path.c_str(), &database_) != SQLITE_OK) return failed();
    Status done = run("PRAGMA journal_mode=WAL");
    if (done) done = run("PRAGMA synchronous=FULL");
    if (done) {
      done = run(
          "CREATE TABLE records(sequence INTEGER PRIMARY KEY, time_ms INTEGER, shard INTEGER, type INTEGER, "
          "payload BLOB)");
    }
    if (!done) return done;
    constexpr const char* kInsert = "INSERT INTO records(time_ms, shard, type, payload) VALUES(?, ?, ?, ?)";
    return sqlite3_prepare_v2(database_, kInsert, -1, &insert_, nullptr) == SQLITE_OK ? Status() : failed();
  }

  Status commit(std::span<const journal::Record> batch) override {
    if (const Status begun = run("BEGIN"); !begun) return begun;
    for (const journal::Record& record : batch) {
      sqlite3_bind_int64(insert_, 1, record.time_ms);
      sqlite3_bind_int(insert_, 2, record.shard);
      sqlite3_bind_int(insert_, 3, static_cast<int>(record.type));
      sqlite3_bind_blob(insert_, 4, record.payload.data(), static_cast<int>(record.payload.size()),
                        SQLITE_STATIC);
      if (sqlite3_step(insert_) != SQLITE_DONE) return failed();
      sqlite3_reset(insert_);
    }
    return run("COMMIT");
  }

 private:
  [[nodiscard]] Status run(const char* statement) {
    return sqlite3_exec(database_, statement, nullptr, nullptr, nullptr) == SQLITE_OK ? Status() : failed();
  }
  [[nodiscard]] Status failed() const { return fail(std::string("SQLite: ") + sqlite3_errmsg(database_)); }

  sqlite3* database_ = nullptr;
  sqlite3_stmt* insert_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<Arm>> make_sqlite_arm(const std::string& directory) {
  auto arm = std::make_unique<SqliteArm>();
  if (const Status opened = arm->open(directory + "/records.sqlite"); !opened)
    return std::unexpected(opened.error());
  return arm;
}

}  // namespace taut::compare

#else

namespace taut::compare {

Result<std::unique_ptr<Arm>> make_sqlite_arm(const std::string&) {
  return fail("libsqlite3-dev was not installed when this was built");
}

}  // namespace taut::compare

#endif
