#include "gateway/open_journal.h"

#include <algorithm>
#include <string>
#include <utility>

#include "gateway/compaction.h"
#include "journal/format.h"
#include "journal/journal_reader.h"
#include "wire/record_json.h"

namespace taut::gateway {

namespace {

[[nodiscard]] std::string started_payload(bool clean) {
  const wire::Started started{.version = TAUT_VERSION, .clean = clean};
  std::string payload(wire::max_size(started), '\0');
  payload.resize(wire::write(payload, started));
  return payload;
}

}  // namespace

Recovery::Options recovery_options(const Settings& settings, uint64_t hash_seed) {
  return {.groups = settings.groups,
          .conversations_max = settings.conversations_max,
          .history_items = settings.history_items,
          .hash_seed = hash_seed};
}

Result<OpenedJournal> open_journal(FileSystem& files, const Settings& settings, uint32_t shards,
                                   uint64_t hash_seed, int64_t wall_ms) {
  const std::string directory = journal::journal_directory(settings.data);
  const uint32_t conversations_max = conversations_per_shard(settings, shards);
  Recovery recovery(recovery_options(settings, hash_seed));
  const Result<uint64_t> covered = read_newest_snapshot(files, directory, recovery, [] { return true; });
  if (!covered) return std::unexpected(covered.error());
  const Result<uint64_t> gone = journal::removed_through(files, directory);
  if (!gone) return std::unexpected(gone.error());
  const Result<journal::JournalEnd> end = journal::read_journal(
      files, directory, [&recovery](const journal::Record& record) { return recovery.apply(record); },
      {.after = *covered});
  if (!end) return std::unexpected(end.error());
  Result<journal::JournalWriter> writer = journal::JournalWriter::open(
      files, {.directory = directory, .segment_bytes = settings.journal_segment_bytes}, *end);
  if (!writer) return std::unexpected(writer.error());
  const bool clean = recovery.clean();
  const std::string payload = started_payload(clean);
  // Names of conversations tell the start of their process, so no two starts have the same time, wherever the
  // clock stands.
  const journal::Record record{.sequence = end->next_sequence,
                               .time_ms = std::max(wall_ms, recovery.latest_ms() + 1),
                               .type = journal::RecordType::started,
                               .payload = payload};
  if (const Status applied = recovery.apply(record); !applied) return std::unexpected(applied.error());
  writer->append(record);
  if (const Status committed = writer->commit(); !committed) return std::unexpected(committed.error());
  Result<Recovered> recovered = recovery.take(shards, conversations_max);
  if (!recovered) return std::unexpected(recovered.error());
  return OpenedJournal{.recovered = std::move(*recovered),
                       .counts = recovery.counts(),
                       .covered = *covered,
                       .forgotten = std::max(recovery.last_forgotten(), *gone < *covered ? *covered : 0),
                       .clean = clean,
                       .writer = std::move(*writer)};
}

}  // namespace taut::gateway
