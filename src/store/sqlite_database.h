// SQLite's handles as owners, its codes as Status, and transactions that end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace taut::store {

class SqliteDatabase;

/// The rows of a statement that runs; its end, or the object's, makes the statement free again.
class SqliteRows {
 public:
  explicit SqliteRows(SqliteDatabase& database, sqlite3_stmt* statement)
      : database_(database), statement_(statement) {}
  SqliteRows(const SqliteRows&) = delete;
  SqliteRows& operator=(const SqliteRows&) = delete;
  ~SqliteRows();

  /// The next row is there; false: there is none.
  [[nodiscard]] Result<bool> next();
  // Columns of the row, from 0. A text is a view until next().
  [[nodiscard]] int64_t integer(int column) const;
  [[nodiscard]] uint64_t number(int column) const { return static_cast<uint64_t>(integer(column)); }
  [[nodiscard]] std::string_view text(int column) const;

 private:
  SqliteDatabase& database_;
  sqlite3_stmt* statement_;
};

/// A prepared statement. It goes before its database.
class SqliteStatement {
 public:
  SqliteStatement() = default;
  SqliteStatement(SqliteDatabase& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}
  SqliteStatement(SqliteStatement&& other) noexcept;
  SqliteStatement& operator=(SqliteStatement&& other) noexcept;
  ~SqliteStatement();

  /// Values for ?1, ?2, …: texts (whose bytes outlive the run), integers, enumerators, optionals of these.
  /// The next rows() or run() uses them. REQUIRES: its rows are gone.
  template <class... Values>
  SqliteStatement& with(const Values&... values) {
    int index = 0;
    (bind(++index, values), ...);
    return *this;
  }
  [[nodiscard]] SqliteRows rows() { return SqliteRows(*database_, statement_); }
  /// To its end, without a look at the rows.
  [[nodiscard]] Status run();

 private:
  template <class Value>
  void bind(int index, const Value& value) {
    if constexpr (std::is_integral_v<Value> || std::is_enum_v<Value>) {
      bind_integer(index, static_cast<int64_t>(value));
    } else if constexpr (std::is_convertible_v<const Value&, std::string_view>) {
      bind_text(index, value);
    } else {
      value ? bind(index, *value) : bind_null(index);
    }
  }
  void bind_text(int index, std::string_view value);
  void bind_integer(int index, int64_t value);
  void bind_null(int index);

  SqliteDatabase* database_ = nullptr;
  sqlite3_stmt* statement_ = nullptr;
};

/// One connection, one thread at a time.
class SqliteDatabase {
 public:
  /// How long a call waits for another process that holds a lock.
  static constexpr int kBusyMsMax = 2'000;

  SqliteDatabase() = default;
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;
  ~SqliteDatabase();

  /// Opens for reading and writing; a file that is not there is created, for its owner's eyes only. Whether
  /// it is a database shows at the first statement. REQUIRES: not open.
  [[nodiscard]] Status open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }

  /// One or more statements without values or rows.
  [[nodiscard]] Status run(const char* sql);
  [[nodiscard]] Result<SqliteStatement> prepare(std::string_view sql);
  /// The single value of a statement such as a PRAGMA.
  [[nodiscard]] Result<int64_t> integer(std::string_view sql);
  /// Rows that the last INSERT, UPDATE or DELETE touched.
  [[nodiscard]] uint64_t changes() const;
  /// What runs now fails soon. Any thread.
  void interrupt();
  /// Rows that were touched since it was opened.
  [[nodiscard]] int64_t total_changes() const;

  /// Every page as it is now into a file, which is made; REQUIRES: no transaction is open.
  [[nodiscard]] Status copy_to(const std::string& path);

  /// SQLite's last complaint in an operator's words.
  [[nodiscard]] std::unexpected<Error> failure(int code) const;
  /// Ends a transaction that is open, without a trace of it.
  void roll_back();

 private:
  std::string path_;
  sqlite3* handle_ = nullptr;
};

/// BEGIN IMMEDIATE to commit(); without that its end rolls back.
class SqliteTransaction {
 public:
  explicit SqliteTransaction(SqliteDatabase& database) : database_(database) {}
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;
  ~SqliteTransaction() { database_.roll_back(); }

  [[nodiscard]] Status begin() { return database_.run("BEGIN IMMEDIATE"); }
  [[nodiscard]] Status commit() { return database_.run("COMMIT"); }

 private:
  SqliteDatabase& database_;
};

}  // namespace taut::store
