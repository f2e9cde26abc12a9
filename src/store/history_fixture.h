// Test support: a place for a store of either kind, so that both are held to the same tests.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>

#include "store/postgres_history.h"
#include "store/postgres_testing.h"
#include "store/sqlite_history.h"
#include "store/story_fixture.h"

namespace taut::store {

/// A directory that goes with the test.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = testing::TempDir() + "taut-store-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

enum class Backend : uint8_t { sqlite, postgres };

inline void PrintTo(Backend backend, std::ostream* out) {
  *out << (backend == Backend::sqlite ? "sqlite" : "postgres");
}

/// Where one store lives, empty at first.
class StoreHome {
 public:
  explicit StoreHome(Backend backend) : backend_(backend) {
    if (backend == Backend::postgres && available()) {
      PostgresServer::instance()->run("DROP SCHEMA IF EXISTS taut CASCADE");
    }
  }
  [[nodiscard]] bool available() const {
    return backend_ == Backend::sqlite || PostgresServer::instance() != nullptr;
  }
  [[nodiscard]] std::unique_ptr<HistoryStore> open() const {
    if (backend_ == Backend::sqlite) return good(SqliteHistory::open(directory_.file("history.db")));
    return good(PostgresHistory::open(PostgresServer::instance()->url(), {}));
  }

 private:
  Backend backend_;
  TemporaryDirectory directory_;
};

/// Runs once for each kind. INSTANTIATE_TEST_SUITE_P(, X, kBackends, backend_name) makes the tests.
class HistoryFixture : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    if (!home_.available()) GTEST_SKIP() << "PostgreSQL 15 is not installed (Debian package postgresql-15)";
    store_ = home_.open();
    ASSERT_TRUE(store_);
  }
  void apply(const Story& story) { ASSERT_TRUE(succeeds(store_->apply(story.all()))); }
  void reopen() {
    store_.reset();
    store_ = home_.open();
  }

  StoreHome home_{GetParam()};
  std::unique_ptr<HistoryStore> store_;
};

inline const auto kBackends = testing::Values(Backend::sqlite, Backend::postgres);

inline std::string backend_name(const testing::TestParamInfo<Backend>& info) {
  return info.param == Backend::sqlite ? "Sqlite" : "Postgres";
}

}  // namespace taut::store
