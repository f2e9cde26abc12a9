#include "store/postgres_connection.h"

#include <fcntl.h>
#include <postgresql/libpq-fe.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/assert.h"

namespace taut::store {

namespace {

/// How long a server that has gone without a word is believed to be there.
constexpr const char* kTcpUserTimeoutMs = "30000";
/// Most values of one statement.
constexpr size_t kValuesMax = 8;

/// libpq's complaint on one line.
std::string one_line(std::string_view message) {
  std::string line;
  for (const char c : message) {
    if (c != '\n' && c != '\t') {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

void ignore_notice(void* /*context*/, const char* /*message*/) {}

}  // namespace

// -- PostgresRows
// --------------------------------------------------------------------------------------------

PostgresRows::PostgresRows(PostgresRows&& other) noexcept : result_(std::exchange(other.result_, nullptr)) {}

PostgresRows::~PostgresRows() {
  PQclear(result_);
}

bool PostgresRows::succeeded() const {
  const ExecStatusType status = PQresultStatus(result_);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_COPY_IN;
}

int PostgresRows::count() const {
  return PQntuples(result_);
}

std::string_view PostgresRows::text(int row, int column) const {
  return {PQgetvalue(result_, row, column), static_cast<size_t>(PQgetlength(result_, row, column))};
}

int64_t PostgresRows::integer(int row, int column) const {
  const std::string_view digits = text(row, column);
  int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

// -- PostgresConnection
// --------------------------------------------------------------------------------------

PostgresConnection::PostgresConnection() : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}

PostgresConnection::~PostgresConnection() {
  close();
  ::close(socket_);
}

Status PostgresConnection::open(const std::string& url, int connect_timeout_s) {
  close();
  const std::string timeout = std::to_string(connect_timeout_s);
  // Of a key that is there twice the last one counts: the URL's wins over what stands before it.
  const std::array keys{"connect_timeout", "tcp_user_timeout", "fallback_application_name",
                        "dbname",          "client_encoding",  static_cast<const char*>(nullptr)};
  const std::array values{
      timeout.c_str(), kTcpUserTimeoutMs, "taut", url.c_str(), "UTF8", static_cast<const char*>(nullptr)};
  handle_ = PQconnectdbParams(keys.data(), values.data(), 1);
  if (handle_ == nullptr) return fail("PostgreSQL: no memory for a connection");
  PQsetNoticeProcessor(handle_, ignore_notice, nullptr);
  if (PQstatus(handle_) != CONNECTION_OK) return failure();
  ::dup3(PQsocket(handle_), socket_, O_CLOEXEC);
  return {};
}

void PostgresConnection::interrupt() {
  ::shutdown(socket_, SHUT_RDWR);
}

void PostgresConnection::notice_loss() {
  if (handle_ == nullptr) return;
  const bool readable = PQconsumeInput(handle_) == 1;
  if (!readable || PQstatus(handle_) != CONNECTION_OK) close();
}

void PostgresConnection::close() {
  PQfinish(std::exchange(handle_, nullptr));
}

Status PostgresConnection::run(const std::string& sql) {
  TAUT_ASSERT(is_open());
  const PostgresRows result(PQexec(handle_, sql.c_str()));
  if (!result.succeeded()) return failure();
  return {};
}

Result<PostgresRows> PostgresConnection::query(const std::string& sql,
                                               std::initializer_list<std::string_view> values) {
  TAUT_ASSERT(is_open() && values.size() <= kValuesMax);
  std::array<const char*, kValuesMax> texts{};
  std::array<int, kValuesMax> lengths{};
  std::array<int, kValuesMax> formats{};
  size_t at = 0;
  for (const std::string_view value : values) {
    texts[at] = value.data() == nullptr ? "" : value.data();  // a null pointer would be NULL
    lengths[at] = static_cast<int>(value.size());
    formats[at] = 1;  // "binary": of a text its bytes, which need no end
    ++at;
  }
  // Every value is a text; statements cast what is to be something else.
  constexpr Oid kText = 25;
  std::array<Oid, kValuesMax> types;
  types.fill(kText);
  PostgresRows result(PQexecParams(handle_, sql.c_str(), static_cast<int>(at), types.data(), texts.data(),
                                   lengths.data(), formats.data(), 0));
  if (!result.succeeded()) return failure();
  return result;
}

Status PostgresConnection::copy(const std::string& sql, std::string_view lines) {
  TAUT_ASSERT(is_open());
  {
    const PostgresRows begun(PQexec(handle_, sql.c_str()));
    if (!begun.succeeded()) return failure();
  }
  // libpq takes an int; it buffers, so pieces cost nothing.
  constexpr size_t kPieceBytes = 1U << 20U;
  bool sent = true;
  for (; sent && !lines.empty(); lines.remove_prefix(std::min(kPieceBytes, lines.size()))) {
    const std::string_view piece = lines.substr(0, kPieceBytes);
    sent = PQputCopyData(handle_, piece.data(), static_cast<int>(piece.size())) == 1;
  }
  if (!sent || PQputCopyEnd(handle_, nullptr) != 1) {
    const std::unexpected<Error> words = failure();
    close();  // nobody knows how much arrived
    return words;
  }
  bool stored = true;
  while (pg_result* result = PQgetResult(handle_)) {
    stored = PostgresRows(result).succeeded() && stored;
  }
  if (!stored) return failure();
  return {};
}

std::unexpected<Error> PostgresConnection::failure() {
  std::string words = "PostgreSQL: " + one_line(PQerrorMessage(handle_));
  if (PQstatus(handle_) != CONNECTION_OK) close();
  return fail(std::move(words));
}

// -- PostgresTransaction
// -------------------------------------------------------------------------------------

PostgresTransaction::~PostgresTransaction() {
  if (!open_ || !connection_.is_open()) return;
  if (!connection_.run("ROLLBACK")) connection_.close();  // and the server rolls back
}

Status PostgresTransaction::begin() {
  Status begun = connection_.run("BEGIN");
  open_ = begun.has_value();
  return begun;
}

Status PostgresTransaction::commit() {
  Status committed = connection_.run("COMMIT");
  open_ = !committed;
  return committed;
}

// -- CopyLines
// -----------------------------------------------------------------------------------------------

CopyLines& CopyLines::text(std::string_view value) {
  next_column();
  for (const char c : value) {
    switch (c) {
      case '\\':
        lines_ += "\\\\";
        break;
      case '\n':
        lines_ += "\\n";
        break;
      case '\r':
        lines_ += "\\r";
        break;
      case '\t':
        lines_ += "\\t";
        break;
      default:
        lines_ += c;
    }
  }
  return *this;
}

CopyLines& CopyLines::integer(int64_t value) {
  next_column();
  lines_ += std::to_string(value);
  return *this;
}

CopyLines& CopyLines::null() {
  next_column();
  lines_ += "\\N";
  return *this;
}

void CopyLines::end_line() {
  lines_ += '\n';
  line_begun_ = false;
}

void CopyLines::next_column() {
  if (line_begun_) lines_ += '\t';
  line_begun_ = true;
}

}  // namespace taut::store
