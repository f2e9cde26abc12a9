#include "gateway/store_service.h"

#include "base/clock.h"
#include "journal/format.h"
#include "store/postgres_history.h"
#include "store/sqlite_history.h"

namespace taut::gateway {

namespace {

/// Less than a stop may take.
constexpr int kConnectTimeoutS = 3;

template <class Store>
Result<std::unique_ptr<StoreService>> service_of(Result<std::unique_ptr<Store>> opened) {
  if (!opened) return std::unexpected(opened.error());
  return std::make_unique<StoreService>(*std::move(opened));
}

}  // namespace

Status check_store(std::string_view text) {
  const bool url = text.starts_with("postgresql://") || text.starts_with("postgres://");
  if (text == "none" || text == "sqlite" || url) return {};
  return fail("must be none, sqlite, or postgresql://user@host/database");
}

Result<std::unique_ptr<StoreService>> StoreService::open(const Settings& settings) {
  if (settings.store == "sqlite")
    return service_of(store::SqliteHistory::open(settings.data + "/history.db"));
  return service_of(store::PostgresHistory::open(settings.store, {.connect_timeout_s = kConnectTimeoutS}));
}

void StoreService::follow(FileSystem& files, const Settings& settings, const Cell& durable) {
  archive_.emplace(*store_, files,
                   Archive::Options{.directory = journal::journal_directory(settings.data),
                                    .groups = settings.groups,
                                    .retention_ms = settings.retention_days * kDayMs},
                   durable, metrics_);
}

}  // namespace taut::gateway
