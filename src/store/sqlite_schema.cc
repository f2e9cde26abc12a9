#include "store/sqlite_schema.h"

#include <string>

namespace taut::store {

namespace {

/// "taut", in the header of the file.
constexpr int64_t kApplicationId = 0x74617574;
/// Of the tables below; a change of them takes the next number.
constexpr int64_t kSqliteSchemaVersion = 1;

// A commit is safe from kill -9, not from a power cut: that may undo the last ones, position and rows
// together, and the journal has them. Long WALs of big transactions are given back.
constexpr const char* kConnection = R"sql(
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA secure_delete = ON;
PRAGMA journal_size_limit = 67108864;
)sql";

// Rows are numbered as their journal records are, which orders them by age. The text index has no copy of the
// texts: it reads items.
constexpr const char* kSqliteTables = R"sql(
CREATE TABLE journal (
  position INTEGER NOT NULL -- the sequence up to which records are in these tables
) STRICT;
INSERT INTO journal VALUES (0);

CREATE TABLE conversations (
  record INTEGER PRIMARY KEY, -- the sequence of the journal record that created it
  id TEXT NOT NULL UNIQUE,
  visitor TEXT NOT NULL,
  group_name TEXT NOT NULL,
  state INTEGER NOT NULL DEFAULT 0, -- 0 queued, 1 assigned, 2 active, 3 closed
  agent TEXT NOT NULL DEFAULT '', -- its owner, or its last one when it is closed
  opened_ms INTEGER NOT NULL, -- since 1970, as all times
  last_ms INTEGER NOT NULL, -- of the latest item
  epoch INTEGER NOT NULL DEFAULT 0,
  seq INTEGER NOT NULL DEFAULT 0,
  visitor_delivered INTEGER NOT NULL DEFAULT 0,
  visitor_read INTEGER NOT NULL DEFAULT 0,
  agent_delivered INTEGER NOT NULL DEFAULT 0,
  agent_read INTEGER NOT NULL DEFAULT 0,
  json TEXT NOT NULL
) STRICT;
CREATE INDEX conversations_by_visitor ON conversations (visitor);
CREATE INDEX conversations_by_agent ON conversations (agent);
CREATE INDEX conversations_by_state ON conversations (state);
CREATE INDEX conversations_closed ON conversations (last_ms) WHERE state = 3;

CREATE TABLE items (
  record INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL, -- conversations.record
  seq INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  ts_ms INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- 0 text, 1 note, 2 event
  sender_kind INTEGER NOT NULL, -- 0 visitor, 1 agent, 2 bot, 3 system; of texts and notes
  sender TEXT NOT NULL,
  event INTEGER NOT NULL, -- 0 none, 1 opened, 2 assigned, 3 accepted, 4 transferred, 5 requeued, 6 closed,
                          -- 7 reopened, 8 rated
  agent TEXT NOT NULL, -- of events
  text TEXT NOT NULL,
  json TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX items_by_conversation ON items (conversation, seq);
CREATE VIRTUAL TABLE items_text USING fts5 (
  text, content = 'items', content_rowid = 'record', tokenize = 'trigram'
);
)sql";

// Not in the files of the first versions; older ones take no notice of it.
constexpr const char* kLaterTables = R"sql(
CREATE TABLE IF NOT EXISTS to_wipe (
  id INTEGER PRIMARY KEY, -- 1: texts were deleted whose bytes are still in items_text or in the log
  begun INTEGER NOT NULL -- 1: items_text is being merged because of it
) STRICT;
)sql";

Status create_tables(SqliteDatabase& database) {
  SqliteTransaction transaction(database);
  if (Status begun = transaction.begin(); !begun) return begun;
  const std::string marks = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                            "; PRAGMA user_version = " + std::to_string(kSqliteSchemaVersion);
  for (const char* sql : {kSqliteTables, marks.c_str()}) {
    if (Status done = database.run(sql); !done) return done;
  }
  return transaction.commit();
}

}  // namespace

Status prepare_sqlite_schema(SqliteDatabase& database) {
  const Result<int64_t> tables = database.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return std::unexpected(tables.error());
  const Result<int64_t> application = database.integer("PRAGMA application_id");
  if (!application) return std::unexpected(application.error());
  const Result<int64_t> version = database.integer("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  if (*tables != 0 && *application != kApplicationId) {
    return fail(database.path() + ": is the database of another program");
  }
  if (*version > kSqliteSchemaVersion) {
    return fail(database.path() + ": was written by a newer taut (schema " + std::to_string(*version) +
                ", this one knows up to " + std::to_string(kSqliteSchemaVersion) + ")");
  }
  if (Status set = database.run(kConnection); !set) return set;
  if (*tables == 0) {
    if (Status created = create_tables(database); !created) return created;
  }
  return database.run(kLaterTables);
}

}  // namespace taut::store
