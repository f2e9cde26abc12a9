#include "gateway/journal_service.h"

#include <utility>

#include "journal/format.h"

namespace taut::gateway {

Result<std::unique_ptr<JournalService>> JournalService::open(FileSystem& files, const Settings& settings,
                                                             const Layout& layout, uint64_t hash_seed,
                                                             int64_t wall_ms, const Cell& leaving,
                                                             std::function<uint64_t()> keep_from) {
  auto opened = open_journal(files, settings, layout.chat_shards, hash_seed, wall_ms);
  if (!opened) return std::unexpected(opened.error());
  return std::make_unique<JournalService>(files, settings, layout, std::move(*opened), leaving,
                                          std::move(keep_from));
}

JournalService::JournalService(FileSystem& files, const Settings& settings, const Layout& layout,
                               OpenedJournal opened, const Cell& leaving, std::function<uint64_t()> keep_from)
    : settings_(settings),
      opened_(std::move(opened)),
      committer_(opened_.writer, layout,
                 {.linger_ns = int64_t{settings.journal_linger_us} * 1'000,
                  .gives_way = settings.mode == wire::Durability::durable},
                 metrics_),
      compactor_(
          files,
          {.directory = journal::journal_directory(settings.data),
           .recovery = recovery_options(settings, opened_.recovered.hash_seed),
           .closed_items_max = layout.store ? Compactor::kClosedItemsKept : UINT64_MAX},
          [this, keep_from = std::move(keep_from)] {
            return CompactionWishes{.keep_from = keep_from(), .forgotten = metrics_.forgotten.load()};
          },
          [&leaving] { return leaving.load() == 0; }, layout.committer(), compactor_metrics_) {
  metrics_.forgotten.store(opened_.forgotten);
}

void JournalService::say_what_was_recovered(LogRing& log) const {
  log.info("mode {}: {} records read, {} items; the end before this start was {}",
           wire::name_of(settings_.mode), opened_.counts.records, opened_.counts.items,
           opened_.clean ? "clean" : "a crash");
  if (opened_.covered > 0) log.info("a snapshot stood for the records up to {}", opened_.covered);
  if (opened_.counts.regrouped > 0) {
    log.warn("{} conversations are of groups that are no longer configured: they are in the first one now",
             opened_.counts.regrouped);
  }
}

}  // namespace taut::gateway
