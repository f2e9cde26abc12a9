// What is particular to PostgreSQL: a server that goes and comes back, time limits, schemas, secrets.
#include "store/postgres_history.h"

#include <gtest/gtest.h>

#include <string>

#include "store/history_fixture.h"

namespace taut::store {
namespace {

class PostgresHistoryOn : public testing::Test {
 protected:
  void SetUp() override {
    if (server() == nullptr) GTEST_SKIP() << "PostgreSQL 15 is not installed (Debian package postgresql-15)";
    server()->run("DROP SCHEMA IF EXISTS taut CASCADE");
    story_.conversation("c1", "v1");
    for (int i = 0; i < 20; ++i) story_.text("c1", "hello " + std::to_string(i));
  }
  static PostgresServer* server() { return PostgresServer::instance(); }
  static std::unique_ptr<PostgresHistory> open(const PostgresHistory::Options& options = {}) {
    return good(PostgresHistory::open(server()->url(), options));
  }

  Story story_;
};

TEST_F(PostgresHistoryOn, AServerThatWentIsAnErrorUntilItIsBack) {
  const auto store = open();
  ASSERT_TRUE(succeeds(store->apply(story_.part(1, 10))));
  const std::string before_it = dump(*store);
  server()->stop();
  for (int i = 0; i < 2; ++i) {
    const Status status = store->apply(story_.all());
    ASSERT_FALSE(status);
    EXPECT_TRUE(status.error().message.starts_with("PostgreSQL: ")) << status.error().message;
    EXPECT_FALSE(status.error().message.contains('\n'));
    EXPECT_FALSE(store->position());
    EXPECT_FALSE(store->conversations({}));
    EXPECT_FALSE(store->search("hello", 0, 10));
    EXPECT_FALSE(store->items("c1", {}, Audience::agent));
    EXPECT_FALSE(store->remove_visitor("v1"));
  }
  ASSERT_TRUE(server()->start());
  EXPECT_EQ(dump(*store), before_it);
  ASSERT_TRUE(succeeds(store->apply(story_.all())));
  EXPECT_EQ(good(store->position()), story_.last());
}

TEST_F(PostgresHistoryOn, AConnectionThatWasCutIsMadeAnewWithoutAnError) {
  const auto store = open();
  ASSERT_TRUE(succeeds(store->apply(story_.part(1, 10))));
  server()->run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'taut'");
  // The kernel has heard of it a moment later; a call that was quicker fails, and the next one works.
  Status applied = store->apply(story_.all());
  if (!applied) applied = store->apply(story_.all());
  EXPECT_TRUE(succeeds(applied));
  EXPECT_EQ(good(store->conversation("c1"))->seq, 20U);
}

TEST_F(PostgresHistoryOn, AStatementThatTakesTooLongIsAnError) {
  const auto store = open({.statement_timeout_ms = 200});
  ASSERT_TRUE(succeeds(store->apply(story_.part(1, 10))));
  PGconn* other = PQconnectdb(server()->url().c_str());
  PQclear(PQexec(other, "BEGIN; SELECT * FROM taut.journal FOR UPDATE"));
  const Status slow = store->apply(story_.all());
  ASSERT_FALSE(slow);
  EXPECT_TRUE(slow.error().message.contains("statement timeout")) << slow.error().message;
  PQfinish(other);
  EXPECT_TRUE(succeeds(store->apply(story_.all())));
  EXPECT_EQ(good(store->position()), story_.last());
}

TEST_F(PostgresHistoryOn, ANewerSchemaIsRefusedAndKept) {
  ASSERT_TRUE(succeeds(open()->apply(story_.all())));
  server()->run("UPDATE taut.journal SET schema_version = 7");
  const Status refused = open()->apply(story_.all());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "PostgreSQL: the schema taut was made by a newer taut (7, this one knows up to 1)");
  EXPECT_EQ(server()->run("SELECT count(*) FROM taut.items"), "20");
}

TEST_F(PostgresHistoryOn, ADatabaseThatIsNotInUtf8IsRefused) {
  server()->run("DROP DATABASE IF EXISTS latin");
  server()->run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
  const auto store = good(PostgresHistory::open(server()->url() + "&dbname=latin", {}));
  const Result<uint64_t> position = store->position();
  ASSERT_FALSE(position);
  EXPECT_TRUE(position.error().message.contains("encoding is LATIN1")) << position.error().message;
}

TEST_F(PostgresHistoryOn, SearchUsesTheTrigramIndexAndDoesWithoutIt) {
  const auto store = open();
  ASSERT_TRUE(succeeds(store->apply(story_.all())));
  const std::string plan =
      server()->run("SET enable_seqscan = off; EXPLAIN SELECT 1 FROM taut.items WHERE text ILIKE '%hello%'");
  EXPECT_TRUE(plan.starts_with("Bitmap Heap Scan")) << plan;
  EXPECT_EQ(all_hits(*store, "hello").size(), 20U);
  server()->run("DROP INDEX taut.items_text");
  EXPECT_EQ(all_hits(*store, "hello").size(), 20U);
  EXPECT_EQ(ids(all_conversations(*store, {.text = "hello"})), "c1");
  // Without it a text of any length is looked for a piece at a time.
  story_.others(2 * kScanRecords);
  ASSERT_TRUE(succeeds(store->apply(story_.all())));
  const SearchPage page = good(store->search("hello", 0, 10));
  EXPECT_TRUE(page.hits.empty());
  EXPECT_NE(page.cursor, 0U);
  EXPECT_EQ(all_hits(*store, "hello").size(), 20U);
}

TEST_F(PostgresHistoryOn, TwoThatMakeTheSchemaAtOnceMakeItOnce) {
  const auto one = open();
  const auto two = open();
  EXPECT_EQ(good(one->position()), 0U);
  EXPECT_EQ(good(two->position()), 0U);
  ASSERT_TRUE(succeeds(one->apply(story_.part(1, 10))));
  ASSERT_TRUE(succeeds(two->apply(story_.all())));
  EXPECT_EQ(dump(*one), dump(*two));
}

TEST_F(PostgresHistoryOn, BackupsArePgDumps) {
  const Status refused = open()->backup("/nowhere");
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.contains("pg_dump"));
}

TEST(PostgresUrl, ABadOneIsRefusedWithoutRepeatingIt) {
  for (const char* url :
       {"postgresql://u:hunter2@[broken", "u:hunter2@host/db", "password=hunter2 nonsense=1"}) {
    const auto refused = PostgresHistory::open(url, {});
    ASSERT_FALSE(refused) << url;
    EXPECT_FALSE(refused.error().message.contains("hunter2")) << refused.error().message;
    EXPECT_TRUE(refused.error().message.contains("postgresql://user@host/database"));
  }
}

TEST(PostgresUrl, NoServerIsAnErrorOfTheFirstCall) {
  const auto store = good(PostgresHistory::open("postgresql://u:hunter2@/db?host=/nonexistent", {}));
  const Result<uint64_t> position = store->position();
  ASSERT_FALSE(position);
  EXPECT_TRUE(position.error().message.starts_with("PostgreSQL: ")) << position.error().message;
  EXPECT_FALSE(position.error().message.contains("hunter2"));
}

}  // namespace
}  // namespace taut::store
