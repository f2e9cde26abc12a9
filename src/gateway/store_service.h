// The history as a part of the server: its database opened at the start, kept by a thread of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/result.h"
#include "gateway/archive.h"
#include "gateway/settings.h"
#include "store/history.h"

namespace taut::gateway {

/// Whether --store may say that: "none", "sqlite", postgresql://….
[[nodiscard]] Status check_store(std::string_view text);

/// Main thread only, but for what says otherwise.
class StoreService {
 public:
  /// As the settings say. Blocks. A PostgreSQL need not be there yet. Error: the file of a SQLite cannot be
  /// used, or the URL is none. REQUIRES: store_of(settings) is not "none".
  [[nodiscard]] static Result<std::unique_ptr<StoreService>> open(const Settings& settings);
  explicit StoreService(std::unique_ptr<store::HistoryStore> store) : store_(std::move(store)) {}

  /// The journal's records from this one on are still needed here. Any thread.
  [[nodiscard]] uint64_t keep_from() const { return metrics_.safe.load() + 1; }
  /// Where the records come from; once, before archive(). As of Archive.
  void follow(FileSystem& files, const Settings& settings, const Cell& durable);

  /// The archive's thread is to end, and must not wait for a database that hangs.
  void interrupt() { store_->interrupt(); }

  /// What runs on a thread of its own.
  [[nodiscard]] Archive& archive() { return *archive_; }
  [[nodiscard]] const ArchiveMetrics& metrics() const { return metrics_; }

 private:
  std::unique_ptr<store::HistoryStore> store_;
  ArchiveMetrics metrics_;
  std::optional<Archive> archive_;
};

}  // namespace taut::gateway
