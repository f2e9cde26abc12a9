// The tables of a SQLite history, and whether a file has them.
#pragma once

#include "base/result.h"
#include "store/sqlite_database.h"

namespace taut::store {

/// Sets the connection up and makes the tables in an empty file. Error, with nothing changed: the file is
/// damaged, belongs to another program, or was written by a newer taut.
[[nodiscard]] Status prepare_sqlite_schema(SqliteDatabase& database);

}  // namespace taut::store
