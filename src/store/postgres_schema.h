// The tables of a PostgreSQL history, and what each session needs.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "store/postgres_connection.h"

namespace taut::store {

/// Makes the schema `taut` where it is missing, and this session's temporary tables for apply(). Error: the
/// database is not in UTF-8, its tables were made by a newer taut, or the role may not make them.
[[nodiscard]] Status prepare_postgres_session(PostgresConnection& connection, uint32_t statement_timeout_ms);

}  // namespace taut::store
