#include "store/postgres_schema.h"

#include <string>

namespace taut::store {

namespace {

/// Of the tables below; a change of them takes the next number.
constexpr int64_t kSchemaVersion = 1;

// Two servers that start at once make the tables once: whoever comes second waits for the lock ("taut").
constexpr const char* kLock = "SELECT pg_advisory_xact_lock(1952544116)";

// As in sqlite_schema.cc, which says what the numbers mean.
constexpr const char* kTables = R"sql(
DO $$ BEGIN
  IF to_regnamespace('taut') IS NULL THEN CREATE SCHEMA taut; END IF;
END $$;
CREATE TABLE taut.journal (schema_version bigint NOT NULL, position bigint NOT NULL);

CREATE TABLE taut.conversations (
  record bigint PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  visitor text COLLATE "C" NOT NULL,
  group_name text NOT NULL,
  state smallint NOT NULL DEFAULT 0,
  agent text COLLATE "C" NOT NULL DEFAULT '',
  opened_ms bigint NOT NULL,
  last_ms bigint NOT NULL,
  epoch bigint NOT NULL DEFAULT 0,
  seq bigint NOT NULL DEFAULT 0,
  visitor_delivered bigint NOT NULL DEFAULT 0,
  visitor_read bigint NOT NULL DEFAULT 0,
  agent_delivered bigint NOT NULL DEFAULT 0,
  agent_read bigint NOT NULL DEFAULT 0,
  json text NOT NULL
);
CREATE INDEX conversations_by_visitor ON taut.conversations (visitor, record);
CREATE INDEX conversations_by_agent ON taut.conversations (agent, record);
CREATE INDEX conversations_by_state ON taut.conversations (state, record);
CREATE INDEX conversations_closed ON taut.conversations (last_ms) WHERE state = 3;

CREATE TABLE taut.items (
  record bigint PRIMARY KEY,
  conversation bigint NOT NULL,
  seq bigint NOT NULL,
  epoch bigint NOT NULL,
  ts_ms bigint NOT NULL,
  kind smallint NOT NULL,
  sender_kind smallint NOT NULL,
  sender text NOT NULL,
  event smallint NOT NULL,
  agent text NOT NULL,
  text text NOT NULL,
  json text NOT NULL,
  UNIQUE (conversation, seq)
);
)sql";

// Without the extension, or the right to add it, search compares item by item.
constexpr const char* kTextIndex = R"sql(
DO $$ DECLARE place text; BEGIN
  CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA taut;
  SELECT n.nspname INTO STRICT place
    FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm';
  EXECUTE format('CREATE INDEX items_text ON taut.items USING gin (text %I.gin_trgm_ops)', place);
EXCEPTION WHEN OTHERS THEN NULL;
END $$;
)sql";

constexpr const char* kSessionTables = R"sql(
CREATE TEMPORARY TABLE new_facts (
  record bigint, id text, visitor text, group_name text, opened_ms bigint, json text
) ON COMMIT DELETE ROWS;
CREATE TEMPORARY TABLE new_items (
  record bigint, id text, seq bigint, epoch bigint, ts_ms bigint, kind smallint, sender_kind smallint,
  sender text, event smallint, agent text, text text, json text
) ON COMMIT DELETE ROWS;
CREATE TEMPORARY TABLE new_changes (
  id text, state smallint, agent text, group_name text, epoch bigint, seq bigint, last_ms bigint,
  visitor_delivered bigint, visitor_read bigint, agent_delivered bigint, agent_read bigint
) ON COMMIT DELETE ROWS;
)sql";

Status make_tables(PostgresConnection& connection) {
  const std::string mark = "INSERT INTO taut.journal VALUES (" + std::to_string(kSchemaVersion) + ", 0)";
  for (const char* sql : {kTables, mark.c_str(), kTextIndex}) {
    if (Status done = connection.run(sql); !done) return done;
  }
  return {};
}

Status check_encoding(PostgresConnection& connection) {
  const Result<PostgresRows> encoding = connection.query("SHOW server_encoding");
  if (!encoding) return std::unexpected(encoding.error());
  if (encoding->text(0, 0) == "UTF8") return {};
  return fail("PostgreSQL: the database's encoding is " + std::string(encoding->text(0, 0)) +
              "; taut needs UTF8 (createdb --encoding=UTF8 --template=template0)");
}

/// REQUIRES: the tables are there.
Status check_version(PostgresConnection& connection) {
  const Result<PostgresRows> version = connection.query("SELECT schema_version FROM taut.journal");
  if (!version) return std::unexpected(version.error());
  if (version->count() != 1)
    return fail("PostgreSQL: taut.journal has not one row; it is not as taut made it");
  if (version->integer(0, 0) <= kSchemaVersion) return {};
  return fail("PostgreSQL: the schema taut was made by a newer taut (" +
              std::to_string(version->integer(0, 0)) + ", this one knows up to " +
              std::to_string(kSchemaVersion) + ")");
}

Status prepare_schema(PostgresConnection& connection) {
  PostgresTransaction transaction(connection);
  if (Status begun = transaction.begin(); !begun) return begun;
  if (Status locked = connection.run(kLock); !locked) return locked;
  const Result<PostgresRows> there = connection.query("SELECT to_regclass('taut.journal') IS NOT NULL");
  if (!there) return std::unexpected(there.error());
  const bool made = there->text(0, 0) == "t";
  if (Status ready = made ? check_version(connection) : make_tables(connection); !ready) return ready;
  return transaction.commit();
}

}  // namespace

Status prepare_postgres_session(PostgresConnection& connection, uint32_t statement_timeout_ms) {
  if (Status set = connection.run("SET statement_timeout = " + std::to_string(statement_timeout_ms)); !set) {
    return set;
  }
  if (Status good = check_encoding(connection); !good) return good;
  if (Status ready = prepare_schema(connection); !ready) return ready;
  return connection.run(kSessionTables);
}

}  // namespace taut::store
