// What is particular to SQLite: the file, its damages, its locks, a full disk, bounded reads, copies.
#include "store/sqlite_history.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "store/history_fixture.h"

namespace taut::store {
namespace {

/// SQLite tells us of each connection that is opened: the latest.
sqlite3* g_connection = nullptr;
int note_connection(sqlite3* connection, char** /*error*/, const void* /*routines*/) {
  g_connection = connection;
  return SQLITE_OK;
}

class SqliteFile : public testing::Test {
 protected:
  SqliteFile() { sqlite3_auto_extension(reinterpret_cast<void (*)()>(&note_connection)); }
  ~SqliteFile() override { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(&note_connection)); }

  std::unique_ptr<SqliteHistory> open() { return good(SqliteHistory::open(path_)); }
  std::string refusal() {
    const auto refused = SqliteHistory::open(path_);
    return refused ? "opened" : refused.error().message;
  }
  /// A statement on a connection of the test's own.
  void run(const std::string& sql) const {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &connection), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK) << sql;
    sqlite3_close(connection);
  }
  void overwrite(uint64_t offset, const std::string& bytes) const {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file << bytes;
    ASSERT_TRUE(file.good());
  }

  TemporaryDirectory directory_;
  const std::string path_ = directory_.file("history.db");
};

/// Items of which the text index knows a text, whether or not they are there.
int all_indexed(const std::string& text) {
  sqlite3_stmt* statement = nullptr;
  const std::string sql = "SELECT count(rowid) FROM items_text WHERE items_text MATCH '" + text + "'";
  EXPECT_EQ(sqlite3_prepare_v2(g_connection, sql.c_str(), -1, &statement, nullptr), SQLITE_OK);
  EXPECT_EQ(sqlite3_step(statement), SQLITE_ROW);
  const int count = sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  return count;
}

Story talk(int items, const std::string& text = "hello there") {
  Story story;
  story.conversation("c1", "v1");
  for (int i = 0; i < items; ++i) story.text("c1", text + " " + std::to_string(i));
  return story;
}

TEST_F(SqliteFile, IsForItsOwnersEyesOnly) {
  const auto store = open();
  ASSERT_TRUE(succeeds(store->apply(talk(1).all())));
  for (const char* part : {"", "-wal", "-shm"}) {
    struct stat status{};
    ASSERT_EQ(::stat((path_ + part).c_str(), &status), 0) << part;
    EXPECT_EQ(status.st_mode & 0077U, 0U) << part;
  }
}

TEST_F(SqliteFile, WhatIsNoDatabaseIsRefusedAndKept) {
  std::ofstream(path_) << std::string(8'192, 'x');
  EXPECT_EQ(refusal(), path_ +
                           ": is damaged, or no database. It can be deleted (with -wal and -shm beside it) "
                           "while taut does not run: history is rebuilt from what the journal holds");
  EXPECT_EQ(std::filesystem::file_size(path_), 8'192U);
  std::filesystem::remove(path_);
  EXPECT_EQ(good(open()->position()), 0U);
}

TEST_F(SqliteFile, WhatIsNoFileIsRefused) {
  std::filesystem::create_directory(path_);
  EXPECT_EQ(refusal(), path_ + ": Is a directory");
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(refusal(), path_ + ": is no regular file");
  EXPECT_FALSE(SqliteHistory::open(directory_.file("no/such/directory")));
}

TEST_F(SqliteFile, ADatabaseOfAnotherProgramIsRefusedAndKept) {
  run("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
  EXPECT_EQ(refusal(), path_ + ": is the database of another program");
  run("SELECT x FROM theirs");
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
}

TEST_F(SqliteFile, ANewerSchemaIsRefused) {
  ASSERT_TRUE(open());
  run("PRAGMA user_version = 7");
  EXPECT_EQ(refusal(), path_ + ": was written by a newer taut (schema 7, this one knows up to 1)");
}

TEST_F(SqliteFile, DamageInTheMiddleIsAnErrorOfTheCallThatMeetsIt) {
  {
    const auto store = open();
    ASSERT_TRUE(succeeds(store->apply(talk(3'000).all())));
  }
  const uint64_t size = std::filesystem::file_size(path_);
  overwrite(size / 2, std::string(size / 4, '\xff'));
  const auto store = open();
  ASSERT_TRUE(store);
  uint64_t seq = 0;
  std::string words;
  while (words.empty() && seq < 3'000) {
    const Result<ItemPage> page =
        store->items("c1", {.side = ItemRange::Side::after, .seq = seq, .limit = kPageMax}, Audience::agent);
    if (!page) words = page.error().message;
    if (page && page->items.empty()) break;
    if (page) seq = page->items.back().seq;
  }
  EXPECT_TRUE(words.contains("is damaged")) << words;
  EXPECT_EQ(good(store->position()), 3'001U);
}

TEST_F(SqliteFile, ALockOfAnotherProcessIsAnErrorUntilItIsGone) {
  const auto store = open();
  const Story story = talk(3);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
  const Status locked = store->apply(story.all());
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().message, path_ + ": another process has it locked");
  EXPECT_EQ(after(*store, "c1", 0, 10), ItemPage{});  // reading goes on
  sqlite3_close(other);
  EXPECT_TRUE(succeeds(store->apply(story.all())));
  EXPECT_EQ(after(*store, "c1", 0, 10).items.size(), 3U);
}

TEST_F(SqliteFile, AFullDiskIsAnErrorAndLosesNothing) {
  const auto store = open();
  const std::string long_text(3'000, 'y');
  Story story = talk(20, long_text);
  ASSERT_TRUE(succeeds(store->apply(story.all())));
  const std::string before_it = dump(*store);
  const auto quota = [&](const std::string& pages) {
    ASSERT_EQ(
        sqlite3_exec(g_connection, ("PRAGMA max_page_count = " + pages).c_str(), nullptr, nullptr, nullptr),
        SQLITE_OK);
  };
  quota("1");  // no fewer than there are
  for (int i = 0; i < 200; ++i) story.text("c1", long_text);
  const Status full = store->apply(story.all());
  ASSERT_FALSE(full);
  EXPECT_TRUE(full.error().message.ends_with(path_ + ": the disk is full")) << full.error().message;
  EXPECT_EQ(dump(*store), before_it);
  EXPECT_EQ(all_hits(*store, "yyyy").size(), 20U);
  // What makes room works on a full disk, and then there is room.
  quota("1000000");
  EXPECT_TRUE(succeeds(store->apply(story.all())));
  EXPECT_EQ(after(*store, "c1", 219, 10).items.size(), 1U);
}

TEST_F(SqliteFile, ACopyOfARunningStoreIsAStore) {
  const auto store = open();
  Story story = talk(500);
  ASSERT_TRUE(succeeds(store->apply(story.all())));
  const std::string then = dump(*store);
  const std::string copy_path = directory_.file("copy.db");
  ASSERT_TRUE(succeeds(store->backup(copy_path)));
  story.text("c1", "later");
  ASSERT_TRUE(succeeds(store->apply(story.all())));

  const auto copy = good(SqliteHistory::open(copy_path));
  EXPECT_EQ(dump(*copy), then);
  EXPECT_EQ(all_hits(*copy, "hello there 499").size(), 1U);
  EXPECT_TRUE(succeeds(copy->apply(story.all())));
  EXPECT_EQ(dump(*copy), dump(*store));
  struct stat status{};
  ASSERT_EQ(::stat(copy_path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0077U, 0U);
}

TEST_F(SqliteFile, ACopyNeverReplacesAFileAndLeavesNoHalf) {
  const auto store = open();
  std::ofstream(directory_.file("taken")) << "precious";
  EXPECT_EQ(store->backup(directory_.file("taken")).error().message,
            directory_.file("taken") + ": is there already");
  EXPECT_EQ(std::filesystem::file_size(directory_.file("taken")), 8U);
  EXPECT_FALSE(store->backup(directory_.file("no/such/directory")));
  // A half of an earlier attempt is no obstacle.
  std::ofstream(directory_.file("copy.db.unfinished")) << "half";
  EXPECT_TRUE(succeeds(store->backup(directory_.file("copy.db"))));
  EXPECT_FALSE(std::filesystem::exists(directory_.file("copy.db.unfinished")));
}

TEST_F(SqliteFile, TheTextIndexForgetsWhatIsRemoved) {
  const auto store = open();
  Story story = talk(3, "needle");
  story.event("c1", EventKind::opened);
  story.conversation("c2", "v2");
  story.text("c2", "needle");
  story.event("c2", EventKind::closed);
  ASSERT_TRUE(succeeds(store->apply(story.all())));
  EXPECT_EQ(all_indexed("needle"), 4);
  EXPECT_EQ(good(store->remove_visitor("v1")).items, 4U);
  EXPECT_EQ(all_indexed("needle"), 1);
  EXPECT_EQ(good(store->expire(100'000, 1)).items, 2U);
  EXPECT_EQ(all_indexed("needle"), 0);
}

TEST_F(SqliteFile, NoByteOfARemovedVisitorIsLeftOnceItIsWiped) {
  auto store = open();
  Story story;
  story.conversation("c1", "v1");
  for (int i = 0; i < 2'000; ++i) story.text("c1", "zqjx" + std::to_string(i));
  story.conversation("c2", "v2");
  for (int i = 0; i < 2'000; ++i) story.text("c2", "other words " + std::to_string(i));
  ASSERT_TRUE(succeeds(store->apply(story.part(1, 1'500))));
  ASSERT_TRUE(succeeds(store->apply(story.part(1, 3'000))));
  ASSERT_TRUE(succeeds(store->apply(story.all())));
  EXPECT_FALSE(good(store->wipe_some())) << "nothing was removed";
  const auto occurrences = [this](std::string_view text) {
    size_t count = 0;
    for (const char* end : {"", "-wal"}) {
      std::ifstream file(path_ + end, std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(file), {});
      for (size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) ++count;
    }
    return count;
  };
  EXPECT_GT(occurrences("zqjx"), 1'000U);
  story.forgotten("v1");
  ASSERT_TRUE(succeeds(store->apply(story.all())));
  store.reset();  // what is left to do outlives the process
  store = open();
  EXPECT_GT(occurrences("zqj"), 0U) << "the index still has its trigrams";
  int pieces = 1;
  while (good(store->wipe_some())) ++pieces;
  EXPECT_GT(pieces, 1) << "it is done in pieces";
  EXPECT_EQ(occurrences("zqj"), 0U);
  EXPECT_FALSE(good(store->wipe_some()));
  EXPECT_EQ(all_indexed("other words"), 2'000);
}

/// Work of all statements of the latest connection since the last look, in steps of SQLite's machine.
uint64_t steps_since() {
  uint64_t steps = 0;
  for (sqlite3_stmt* at = sqlite3_next_stmt(g_connection, nullptr); at != nullptr;
       at = sqlite3_next_stmt(g_connection, at)) {
    steps += static_cast<uint64_t>(sqlite3_stmt_status(at, SQLITE_STMTSTATUS_VM_STEP, 1));
  }
  return steps;
}

TEST_F(SqliteFile, APageCostsTheSameHoweverLongTheHistory) {
  constexpr int kItems = 100'000;
  const auto store = open();
  Story story;
  story.conversation("c1", "v1");
  story.conversation("c2", "v2");
  for (int i = 0; i < kItems; ++i) story.text(i % 10 == 0 ? "c2" : "c1", std::to_string(i));
  ASSERT_TRUE(succeeds(store->apply(story.part(1, 200))));
  (void)steps_since();
  ASSERT_EQ(before(*store, "c1", 0, 50).items.size(), 50U);
  const uint64_t short_history = steps_since();
  ASSERT_GT(short_history, 50U);

  ASSERT_TRUE(succeeds(store->apply(story.all())));
  const uint64_t last = story.seq_of("c1");
  struct Question {
    ItemRange::Side side;
    uint64_t seq;
  };
  using enum ItemRange::Side;
  for (const Question& question : {Question{before, 0},
                                   {before, last / 2},
                                   {after, 0},
                                   {after, last / 2},
                                   {after, last - 51},
                                   {before, 52}}) {
    (void)steps_since();
    const ItemRange range{.side = question.side, .seq = question.seq, .limit = 50};
    ASSERT_EQ(good(store->items("c1", range, Audience::agent)).items.size(), 50U);
    EXPECT_LE(steps_since(), short_history + 10) << question.seq;
  }
}

/// How SQLite goes about each statement that `ask` runs.
template <class Ask>
std::string plans_of(Ask&& ask) {
  std::set<std::string> statements;
  const auto note = [](unsigned, void* context, void* statement, void*) {
    static_cast<std::set<std::string>*>(context)->insert(sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
    return 0;
  };
  sqlite3_trace_v2(g_connection, SQLITE_TRACE_STMT, note, &statements);
  ask();
  sqlite3_trace_v2(g_connection, 0, nullptr, nullptr);
  std::string text;
  for (const std::string& sql : statements) {
    sqlite3_stmt* statement = nullptr;
    sqlite3_prepare_v2(g_connection, ("EXPLAIN QUERY PLAN " + sql).c_str(), -1, &statement, nullptr);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      text += std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, 3))) + "\n";
    }
    sqlite3_finalize(statement);
  }
  return text;
}

TEST_F(SqliteFile, FiltersAndRemovalsUseTheirIndexes) {
  const auto store = open();
  ASSERT_TRUE(succeeds(store->apply(talk(1).all())));
  const auto uses = [](const std::string& index, const auto& ask) {
    const std::string text = plans_of(ask);
    EXPECT_TRUE(text.contains("INDEX " + index)) << text;
    EXPECT_FALSE(text.contains("TEMP B-TREE")) << text;
    EXPECT_FALSE(text.contains("SCAN c")) << text;
  };
  const auto list = [&](const ConversationFilter& filter) {
    return [&store, filter] { (void)all_conversations(*store, filter); };
  };
  uses("conversations_by_visitor", list({.visitor = "v1"}));
  uses("conversations_by_agent", list({.agent = "a1"}));
  uses("conversations_by_state", list({.state = ConversationState::active}));
  uses("sqlite_autoindex_conversations_1", [&] { (void)good(store->conversation("c1")); });
  uses("conversations_closed", [&] { (void)good(store->expire(1, 1)); });
  uses("items_by_conversation", [&] { (void)good(store->remove_visitor("v1")); });
}

}  // namespace
}  // namespace taut::store
