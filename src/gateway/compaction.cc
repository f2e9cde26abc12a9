#include "gateway/compaction.h"

#include <optional>
#include <utility>
#include <vector>

#include "journal/journal_reader.h"
#include "journal/segments.h"
#include "journal/snapshot.h"

namespace taut::gateway {

namespace {

/// `apply`, until it is to end.
template <class Apply>
journal::RecordVisitor while_it_goes_on(const GoesOn& goes_on, Apply&& apply) {
  return [&goes_on, apply](const journal::Record& record) {
    return goes_on() ? apply(record) : Status(fail("it was told to stop"));
  };
}

Result<uint64_t> size_of(FileSystem& files, const std::string& path) {
  const auto file = files.open_for_reading(path);
  if (!file) return std::unexpected(file.error());
  return (*file)->size();
}

/// Of the segments behind record `covered`, but the newest, which still grows.
Result<uint64_t> settled_bytes(FileSystem& files, const std::vector<journal::Segment>& segments,
                               uint64_t covered) {
  uint64_t bytes = 0;
  for (size_t i = 0; i + 1 < segments.size(); ++i) {
    if (!segments[i].counts() || *segments[i].first_sequence <= covered) continue;
    const Result<uint64_t> size = size_of(files, segments[i].path);
    if (!size) return std::unexpected(size.error());
    bytes += *size;
  }
  return bytes;
}

/// Returns its bytes.
Result<uint64_t> make_snapshot(FileSystem& files, const CompactionOptions& options, uint64_t up_to,
                               const GoesOn& goes_on) {
  Recovery recovery(options.recovery);
  const Result<uint64_t> covered = read_newest_snapshot(files, options.directory, recovery, goes_on);
  if (!covered) return std::unexpected(covered.error());
  const auto read = journal::read_journal(
      files, options.directory,
      while_it_goes_on(goes_on, [&](const journal::Record& record) { return recovery.apply(record); }),
      {.after = *covered, .up_to = up_to});
  if (!read) return std::unexpected(read.error());
  recovery.thin_closed(options.closed_items_max);
  Result<journal::SnapshotWriter> writer = journal::SnapshotWriter::open(files, options.directory, up_to);
  if (!writer) return std::unexpected(writer.error());
  if (const Status written = recovery.write_snapshot(*writer, goes_on); !written)
    return std::unexpected(written.error());
  const uint64_t bytes = writer->bytes();
  if (const Status finished = writer->finish(); !finished) return std::unexpected(finished.error());
  return bytes;
}

}  // namespace

Result<uint64_t> read_newest_snapshot(FileSystem& files, const std::string& directory, Recovery& recovery,
                                      const GoesOn& goes_on) {
  const auto snapshot = journal::find_snapshot(files, directory);
  if (!snapshot) return std::unexpected(snapshot.error());
  if (!*snapshot) return 0;
  const auto read = journal::read_snapshot(
      files, **snapshot, while_it_goes_on(goes_on, [&recovery](const journal::Record& record) {
        return recovery.apply_snapshot(record);
      }));
  if (!read) return std::unexpected(read.error());
  if (const Status whole = recovery.finish_snapshot(); !whole)
    return fail((*snapshot)->path + ": " + whole.error().message);
  return (*snapshot)->sequence;
}

Result<Compacted> compact_journal(FileSystem& files, const CompactionOptions& options,
                                  const CompactionWishes& wishes, const GoesOn& goes_on) {
  const auto segments = journal::find_segments(files, options.directory);
  if (!segments) return std::unexpected(segments.error());
  const auto snapshot = journal::find_snapshot(files, options.directory);
  if (!snapshot) return std::unexpected(snapshot.error());
  Compacted compacted{.covered = *snapshot ? (*snapshot)->sequence : 0};
  const uint64_t settled = journal::settled_sequence(*segments);
  compacted.settled = settled;
  if (settled > compacted.covered) {
    const Result<uint64_t> fresh = settled_bytes(files, *segments, compacted.covered);
    if (!fresh) return std::unexpected(fresh.error());
    const Result<uint64_t> old = *snapshot ? size_of(files, (*snapshot)->path) : 0;
    if (!old) return std::unexpected(old.error());
    const bool forgets = wishes.forgotten > compacted.covered && wishes.forgotten <= settled;
    if (forgets || (*fresh > 0 && *fresh >= *old)) {
      const Result<uint64_t> made = make_snapshot(files, options, settled, goes_on);
      if (!made) return std::unexpected(made.error());
      compacted.bytes = *made;
      compacted.covered = settled;
    }
  }
  const Result<uint64_t> removed = journal::remove_covered(files, options.directory, wishes.keep_from);
  if (!removed) return std::unexpected(removed.error());
  compacted.removed = *removed;
  const Result<uint64_t> gone = journal::removed_through(files, options.directory);
  if (!gone) return std::unexpected(gone.error());
  compacted.gone = *gone;
  return compacted;
}

}  // namespace taut::gateway
