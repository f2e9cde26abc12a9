#include "journal/journal_repair.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "journal/format.h"
#include "journal/journal_reader.h"
#include "journal/snapshot.h"

namespace taut::journal {

namespace {

constexpr size_t kCopyBytes = 1 << 20;
/// What a segment's beginning is called until it takes the segment's place.
constexpr const char* kNew = ".repaired";

/// A name for what is taken away that nothing has yet.
Result<std::string> free_name(FileSystem& files, const std::string& path) {
  std::string name = path + ".damaged";
  for (int number = 2;; ++number) {
    const Result<bool> exists = files.exists(name);
    if (!exists) return std::unexpected(exists.error());
    if (!*exists) return name;
    name = path + ".damaged." + std::to_string(number);
  }
}

/// The first `bytes` bytes of a file as a file of their own, durable.
Status copy_front(FileSystem& files, const std::string& from, const std::string& to, uint64_t bytes) {
  const auto source = files.open_for_reading(from);
  if (!source) return std::unexpected(source.error());
  const auto target = files.open(to);
  if (!target) return std::unexpected(target.error());
  if (const Status sized = (*target)->resize(bytes); !sized) return sized;
  std::string buffer(kCopyBytes, '\0');
  for (uint64_t offset = 0; offset < bytes;) {
    const size_t wanted = std::min<uint64_t>(buffer.size(), bytes - offset);
    const Result<size_t> size = (*source)->read_at(offset, {buffer.data(), wanted});
    if (!size) return std::unexpected(size.error());
    if (*size == 0) return fail(from + ": is shorter than a moment ago");
    const std::string_view part(buffer.data(), *size);
    if (const Status written = (*target)->write_at(offset, std::array{part}); !written) return written;
    offset += *size;
  }
  return (*target)->sync_data();
}

/// One damaged place and everything behind it.
class Cut {
 public:
  Cut(FileSystem& files, std::string directory, const Damage& damage, std::vector<std::string>& kept)
      : files_(files), directory_(std::move(directory)), damage_(damage), kept_(kept) {}

  [[nodiscard]] Status make() {
    const std::string path = directory_ + "/" + segment_name(damage_.segment);
    // Of a segment without a record nothing is left: its head would void what an earlier one has of these
    // records.
    const bool has_beginning = damage_.offset > kSegmentHeadBytes;
    if (has_beginning) {
      if (const Status copied = copy_both(path); !copied) return copied;
    }
    if (const Status away = take_away_later(); !away) return away;
    const Status replaced = has_beginning ? files_.rename(path + kNew, path) : take_away(path);
    return replaced ? files_.sync_directory(directory_) : replaced;
  }

 private:
  /// The whole file under another name, and the beginning that is going to take its place.
  [[nodiscard]] Status copy_both(const std::string& path) {
    const Result<std::string> name = free_name(files_, path);
    if (!name) return std::unexpected(name.error());
    const auto file = files_.open_for_reading(path);
    if (!file) return std::unexpected(file.error());
    const Result<uint64_t> size = (*file)->size();
    if (!size) return std::unexpected(size.error());
    Status done = copy_front(files_, path, *name, *size);
    if (done) done = copy_front(files_, path, path + kNew, damage_.offset);
    if (!done) return done;
    kept_.push_back(*name);
    return files_.sync_directory(directory_);
  }

  /// From the last to the first: what a crash leaves is damaged as before, or ends where the repair ends it.
  [[nodiscard]] Status take_away_later() {
    const auto names = files_.list_directory(directory_);
    if (!names) return std::unexpected(names.error());
    for (auto name = names->rbegin(); name != names->rend(); ++name) {
      const std::optional<uint64_t> number = segment_number(*name);
      if (!number || *number <= damage_.segment) continue;
      if (const Status away = take_away(directory_ + "/" + *name); !away) return away;
    }
    return files_.sync_directory(directory_);
  }

  [[nodiscard]] Status take_away(const std::string& path) {
    const Result<std::string> name = free_name(files_, path);
    if (!name) return std::unexpected(name.error());
    const Status renamed = files_.rename(path, *name);
    if (renamed) kept_.push_back(*name);
    return renamed;
  }

  FileSystem& files_;
  const std::string directory_;
  const Damage& damage_;
  std::vector<std::string>& kept_;
};

}  // namespace

Result<JournalRepair> repair_journal(FileSystem& files, const std::string& directory) {
  const Result<uint64_t> removed = removed_through(files, directory);
  if (!removed) return std::unexpected(removed.error());
  JournalRepair repair;
  // Each round takes a segment away or ends one in front of its first bad byte, so there is a last one.
  while (true) {
    const Result<JournalFindings> found =
        examine_journal(files, directory, [](const Record&) { return Status(); }, {.after = *removed});
    if (!found) return std::unexpected(found.error());
    repair.records = found->end.next_sequence - 1;
    if (!found->damage) return repair;
    repair.sequence_max = std::max(repair.sequence_max, found->damage->sequence_max);
    if (const Status cut = Cut(files, directory, *found->damage, repair.kept).make(); !cut)
      return std::unexpected(cut.error());
  }
}

}  // namespace taut::journal
