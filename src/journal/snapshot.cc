#include "journal/snapshot.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "journal/file_window.h"
#include "journal/format.h"
#include "journal/segments.h"

namespace taut::journal {

namespace {

constexpr std::string_view kPartEnd = ".part";
constexpr size_t kBufferBytes = size_t{1} << 20;

/// Whether all that counts of segment `i` is before record `sequence`.
bool all_below(const std::vector<Segment>& segments, size_t i, uint64_t sequence) {
  for (size_t next = i + 1; next < segments.size(); ++next) {
    if (segments[next].first_sequence) return *segments[next].first_sequence <= sequence;
  }
  return false;  // the newest may still grow
}

}  // namespace

Result<std::optional<SnapshotFile>> find_snapshot(FileSystem& files, const std::string& directory) {
  const Result<bool> exists = files.exists(directory);
  if (!exists) return std::unexpected(exists.error());
  if (!*exists) return std::nullopt;
  const auto names = files.list_directory(directory);
  if (!names) return std::unexpected(names.error());
  std::optional<SnapshotFile> newest;
  for (const std::string& name : *names) {  // sorted, and so by number
    const std::optional<uint64_t> sequence = snapshot_sequence(name);
    if (sequence) newest = SnapshotFile{.path = directory + "/" + name, .sequence = *sequence};
  }
  return newest;
}

Result<uint64_t> read_snapshot(FileSystem& files, const SnapshotFile& snapshot, const RecordVisitor& visit) {
  const Result<std::string> head = files.read_front(snapshot.path, kSegmentHeadBytes);
  if (!head) return std::unexpected(head.error());
  const std::optional<SnapshotStart> start = decode_snapshot_head(*head);
  const std::string damaged = snapshot.path + ": damaged at byte ";
  if (start && start->version != kFormatVersion) {
    return fail(snapshot.path + ": a newer taut wrote it, in format " + std::to_string(start->version) +
                "; this one reads format " + std::to_string(kFormatVersion));
  }
  if (!start || start->sequence != snapshot.sequence) return fail(damaged + "0");
  const auto file = files.open_for_reading(snapshot.path);
  if (!file) return std::unexpected(file.error());
  const auto buffer = std::make_unique_for_overwrite<char[]>(FileWindow::kBufferBytes);
  FileWindow window(**file, {buffer.get(), FileWindow::kBufferBytes});
  uint64_t offset = kSegmentHeadBytes;
  for (uint64_t number = 1; number <= start->records; ++number) {
    const auto found = window.record_at(offset);
    if (!found) return std::unexpected(found.error());
    if (!*found || (*found)->record.sequence != number) return fail(damaged + std::to_string(offset));
    const Record& record = (*found)->record;
    const uint64_t bytes = record_bytes(record.payload.size());
    if (const Status visited = visit(record); !visited) return std::unexpected(visited.error());
    offset += bytes;
  }
  return offset;
}

SnapshotWriter::SnapshotWriter(FileSystem& files, const std::string& directory, uint64_t sequence)
    : files_(&files), directory_(directory), sequence_(sequence), buffer_(kSegmentHeadBytes, '\0') {}

SnapshotWriter::~SnapshotWriter() {
  if (file_ == nullptr) return;
  file_.reset();
  best_effort(files_->remove(part_path()));  // else the next attempt does it
}

std::string SnapshotWriter::part_path() const {
  return directory_ + "/" + snapshot_name(sequence_) + std::string(kPartEnd);
}

Result<SnapshotWriter> SnapshotWriter::open(FileSystem& files, const std::string& directory,
                                            uint64_t sequence) {
  SnapshotWriter writer(files, directory, sequence);
  // A write or a sync may have failed on what is left of an earlier attempt.
  const Result<bool> left = files.exists(writer.part_path());
  if (!left) return std::unexpected(left.error());
  if (*left) {
    if (const Status removed = files.remove(writer.part_path()); !removed)
      return std::unexpected(removed.error());
  }
  Result<std::unique_ptr<File>> file = files.open(writer.part_path());
  if (!file) return std::unexpected(file.error());
  writer.file_ = *std::move(file);
  return writer;
}

Status SnapshotWriter::append(const Record& record) {
  Record numbered = record;
  numbered.sequence = ++records_;
  const RecordHead head = encode_record_head(numbered, 0);
  const size_t begin = buffer_.size();
  buffer_.append(head.data(), head.size()).append(record.payload);
  buffer_.resize(begin + record_bytes(record.payload.size()), '\0');
  return buffer_.size() < kBufferBytes ? Status() : write_out();
}

Status SnapshotWriter::write_out() {
  const std::string_view part = buffer_;
  if (const Status written = file_->write_at(written_, {&part, 1}); !written) return written;
  written_ += buffer_.size();
  buffer_.clear();
  return {};
}

/// The head comes last, so that the bytes alone tell a whole one.
Status SnapshotWriter::finish() {
  if (const Status written = write_out(); !written) return written;
  const SnapshotHead head = encode_snapshot_head(sequence_, records_);
  const std::string_view part(head.data(), head.size());
  if (const Status written = file_->write_at(0, {&part, 1}); !written) return written;
  if (const Status synced = file_->sync_data(); !synced) return synced;
  file_.reset();
  if (const Status renamed = files_->rename(part_path(), directory_ + "/" + snapshot_name(sequence_));
      !renamed)
    return renamed;
  return files_->sync_directory(directory_);
}

Result<uint64_t> remove_covered(FileSystem& files, const std::string& directory, uint64_t keep_from) {
  const auto snapshot = find_snapshot(files, directory);
  if (!snapshot) return std::unexpected(snapshot.error());
  if (!*snapshot) return 0;
  const auto names = files.list_directory(directory);
  if (!names) return std::unexpected(names.error());
  bool changed = false;
  for (const std::string& name : *names) {
    const std::optional<uint64_t> sequence = snapshot_sequence(name);
    const bool part = name.ends_with(kPartEnd) &&
                      snapshot_sequence(std::string_view(name).substr(0, name.size() - kPartEnd.size()));
    if (!part && (!sequence || *sequence == (*snapshot)->sequence)) continue;
    if (const Status removed = files.remove(directory + "/" + name); !removed)
      return std::unexpected(removed.error());
    changed = true;
  }
  const auto segments = find_segments(files, directory);
  if (!segments) return std::unexpected(segments.error());
  uint64_t count = 0;
  // From the oldest on: what a crash leaves has no hole.
  for (size_t i = 0; i < segments->size(); ++i) {
    if (!all_below(*segments, i, std::min(keep_from, (*snapshot)->sequence + 1))) break;
    if (const Status removed = files.remove((*segments)[i].path); !removed)
      return std::unexpected(removed.error());
    ++count;
  }
  if (!changed && count == 0) return 0;
  if (const Status synced = files.sync_directory(directory); !synced) return std::unexpected(synced.error());
  return count;
}

Result<uint64_t> removed_through(FileSystem& files, const std::string& directory) {
  const auto snapshot = find_snapshot(files, directory);
  if (!snapshot) return std::unexpected(snapshot.error());
  if (!*snapshot) return 0;
  const auto segments = find_segments(files, directory);
  if (!segments) return std::unexpected(segments.error());
  for (const Segment& segment : *segments) {
    if (segment.counts()) return std::min((*snapshot)->sequence, *segment.first_sequence - 1);
  }
  return (*snapshot)->sequence;
}

}  // namespace taut::journal
