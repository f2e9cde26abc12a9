// One connection to PostgreSQL that comes back after it was lost, and what statements answer.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

struct pg_conn;
struct pg_result;

namespace taut::store {

/// The rows of a statement, all of them in memory.
class PostgresRows {
 public:
  explicit PostgresRows(pg_result* result) : result_(result) {}
  PostgresRows(PostgresRows&& other) noexcept;
  PostgresRows& operator=(PostgresRows&&) = delete;
  ~PostgresRows();

  /// Whether the statement did what it was to do.
  [[nodiscard]] bool succeeded() const;
  [[nodiscard]] int count() const;
  // NULL is 0 and empty. Views live as long as this.
  [[nodiscard]] int64_t integer(int row, int column) const;
  [[nodiscard]] uint64_t number(int row, int column) const {
    return static_cast<uint64_t>(integer(row, column));
  }
  [[nodiscard]] std::string_view text(int row, int column) const;

 private:
  pg_result* result_;
};

/// One thread at a time, but for interrupt(); every call may block, at most for the time-outs in its open(),
/// and for ever on a server that hangs.
class PostgresConnection {
 public:
  PostgresConnection();
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;
  ~PostgresConnection();

  [[nodiscard]] bool is_open() const { return handle_ != nullptr; }
  /// Error: no such server, or it refuses. What the URL says of time-outs wins over connect_timeout_s.
  [[nodiscard]] Status open(const std::string& url, int connect_timeout_s);
  /// Closes it if the server has gone, as far as the kernel knows already. No round trip.
  void notice_loss();
  void close();
  /// Whoever waits for the server now gets an error instead, unless that is in open(). Any thread.
  void interrupt();

  /// One or more statements without values.
  [[nodiscard]] Status run(const std::string& sql);
  /// One statement with texts for $1, $2, …; `sql` says their types.
  [[nodiscard]] Result<PostgresRows> query(const std::string& sql,
                                           std::initializer_list<std::string_view> values = {});
  /// COPY … FROM STDIN, with all of its lines.
  [[nodiscard]] Status copy(const std::string& sql, std::string_view lines);

 private:
  [[nodiscard]] std::unexpected<Error> failure();

  pg_conn* handle_ = nullptr;
  /// A second descriptor of the last connection's socket. Its number is constant, so that interrupt() may use
  /// it at any time, and never meets a descriptor that belongs to somebody else by now.
  const int socket_;
};

/// BEGIN to commit(); without that its end rolls back.
class PostgresTransaction {
 public:
  explicit PostgresTransaction(PostgresConnection& connection) : connection_(connection) {}
  PostgresTransaction(const PostgresTransaction&) = delete;
  PostgresTransaction& operator=(const PostgresTransaction&) = delete;
  ~PostgresTransaction();

  [[nodiscard]] Status begin();
  /// After an error it may have happened all the same: look at the position.
  [[nodiscard]] Status commit();

 private:
  PostgresConnection& connection_;
  bool open_ = false;
};

/// Lines for COPY in its text format.
class CopyLines {
 public:
  CopyLines& text(std::string_view value);
  CopyLines& integer(int64_t value);
  CopyLines& number(uint64_t value) { return integer(static_cast<int64_t>(value)); }
  CopyLines& null();
  void end_line();
  [[nodiscard]] std::string take() && { return std::move(lines_); }

 private:
  void next_column();

  std::string lines_;
  bool line_begun_ = false;
};

}  // namespace taut::store
