#include "store/sqlite_database.h"

#include <sqlite3.h>

#include <utility>

#include "base/assert.h"
#include "base/file.h"

namespace taut::store {

// -- SqliteRows
// ----------------------------------------------------------------------------------------------

SqliteRows::~SqliteRows() {
  sqlite3_reset(statement_);
}

Result<bool> SqliteRows::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return database_.failure(code);
}

int64_t SqliteRows::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string_view SqliteRows::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (bytes == nullptr) return {};
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

// -- SqliteStatement
// -----------------------------------------------------------------------------------------

SqliteStatement::SqliteStatement(SqliteStatement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

SqliteStatement& SqliteStatement::operator=(SqliteStatement&& other) noexcept {
  database_ = other.database_;
  std::swap(statement_, other.statement_);
  return *this;
}

SqliteStatement::~SqliteStatement() {
  sqlite3_finalize(statement_);
}

Status SqliteStatement::run() {
  SqliteRows all = rows();
  while (true) {
    const Result<bool> row = all.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return {};
  }
}

// A value that SQLite has no memory for (or that is longer than a gigabyte) is NULL, which the columns
// refuse.

void SqliteStatement::bind_text(int index, std::string_view value) {
  const char* bytes = value.data() == nullptr ? "" : value.data();  // a null pointer would be NULL
  sqlite3_bind_text64(statement_, index, bytes, value.size(), SQLITE_STATIC, SQLITE_UTF8);
}

void SqliteStatement::bind_integer(int index, int64_t value) {
  sqlite3_bind_int64(statement_, index, value);
}

void SqliteStatement::bind_null(int index) {
  sqlite3_bind_null(statement_, index);
}

// -- SqliteDatabase
// ------------------------------------------------------------------------------------------

SqliteDatabase::~SqliteDatabase() {
  sqlite3_close_v2(handle_);
}

Status SqliteDatabase::open(const std::string& path) {
  TAUT_ASSERT(handle_ == nullptr);
  path_ = path;
  // Ours to create: SQLite would let everybody read it. Its -wal and -shm take their mode from it.
  if (const auto file = PosixFileSystem().open(path); !file) return std::unexpected(file.error());
  if (Status regular = check_regular_file(path); !regular) return regular;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr);
  if (code != SQLITE_OK) return failure(code);
  sqlite3_busy_timeout(handle_, kBusyMsMax);
  return {};
}

Status SqliteDatabase::run(const char* sql) {
  const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return {};
}

Result<SqliteStatement> SqliteDatabase::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return failure(code);
  return SqliteStatement(*this, statement);
}

Result<int64_t> SqliteDatabase::integer(std::string_view sql) {
  Result<SqliteStatement> statement = prepare(sql);
  if (!statement) return std::unexpected(statement.error());
  SqliteRows rows = statement->rows();
  const Result<bool> row = rows.next();
  if (!row) return std::unexpected(row.error());
  return *row ? rows.integer(0) : 0;
}

uint64_t SqliteDatabase::changes() const {
  return static_cast<uint64_t>(sqlite3_changes64(handle_));
}

void SqliteDatabase::interrupt() {
  if (handle_ != nullptr) sqlite3_interrupt(handle_);
}

int64_t SqliteDatabase::total_changes() const {
  return sqlite3_total_changes64(handle_);
}

Status SqliteDatabase::copy_to(const std::string& path) {
  SqliteDatabase copy;
  if (Status opened = copy.open(path); !opened) return opened;
  sqlite3_backup* backup = sqlite3_backup_init(copy.handle_, "main", handle_, "main");
  if (backup == nullptr) return copy.failure(sqlite3_errcode(copy.handle_));
  sqlite3_backup_step(backup, -1);  // all pages: nobody else writes, so nothing is won by pieces
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) return copy.failure(code);
  return {};
}

std::unexpected<Error> SqliteDatabase::failure(int code) const {
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return fail(path_ +
                  ": is damaged, or no database. It can be deleted (with -wal and -shm beside it) while taut "
                  "does not run: history is rebuilt from what the journal holds");
    case SQLITE_FULL:
      return fail(path_ + ": the disk is full");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(path_ + ": another process has it locked");
    default:
      return fail(path_ + ": " + (handle_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(handle_)));
  }
}

void SqliteDatabase::roll_back() {
  // It cannot fail: it may only find that the error before has rolled back already.
  if (sqlite3_get_autocommit(handle_) == 0) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

}  // namespace taut::store
