#include "journal/journal_writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.h"

namespace taut::journal {

namespace {

constexpr std::array<char, kRecordAlignment> kPadding{};

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status write_and_sync(File& file, uint64_t offset, std::span<const std::string_view> parts) {
  const Status written = file.write_at(offset, parts);
  return written ? file.sync_data() : written;
}

}  // namespace

JournalWriter::JournalWriter(FileSystem& files, Options options, const JournalEnd& end)
    : files_(&files),
      options_(std::move(options)),
      next_sequence_(end.next_sequence),
      next_segment_(end.next_segment) {
  TAUT_ASSERT(options_.segment_bytes > kSegmentHeadBytes);
}

Result<JournalWriter> JournalWriter::open(FileSystem& files, const Options& options, const JournalEnd& end) {
  JournalWriter writer(files, options, end);
  Status done = files.create_directory(options.directory);
  if (done) done = files.sync_directory(parent_of(options.directory));
  if (!done) return std::unexpected(done.error());
  Result<Segment> first = writer.create_segment();
  if (!first) return std::unexpected(first.error());
  writer.current_ = *std::move(first);
  if (end.last_batch.bytes > 0) {
    if (const Status carried = writer.carry_over(end.last_batch); !carried) {
      writer.give_up_segment();
      return std::unexpected(carried.error());
    }
  }
  writer.tidy_up(end);
  return writer;
}

/// A number is used once: a file on which something has failed must not be written to under its name.
Result<JournalWriter::Segment> JournalWriter::create_segment() {
  Segment segment;
  segment.number = next_segment_++;
  segment.path = options_.directory + "/" + segment_name(segment.number);
  Result<std::unique_ptr<File>> file = files_->open(segment.path);
  if (!file) return std::unexpected(file.error());
  segment.file = *std::move(file);
  // Synced now, so that a commit finds the file's length and its name on the disk.
  Status done = segment.file->preallocate(options_.segment_bytes);
  if (done) done = segment.file->sync_data();
  if (done) done = files_->sync_directory(options_.directory);
  if (done) return segment;
  segment.file.reset();
  best_effort(files_->remove(segment.path));
  return std::unexpected(done.error());
}

/// The head comes after the records are durable: from then on it voids the records' older copy.
Status JournalWriter::carry_over(const LastBatch& last) {
  const Result<std::unique_ptr<File>> from = files_->open_for_reading(last.file);
  if (!from) return std::unexpected(from.error());
  std::string batch(last.bytes, '\0');
  const Result<size_t> size = (*from)->read_at(last.offset, batch);
  if (!size) return std::unexpected(size.error());
  if (*size < batch.size()) return fail(last.file + ": is shorter than a moment ago");
  const Status written =
      write_and_sync(*current_.file, kSegmentHeadBytes, std::array{std::string_view(batch)});
  if (!written) return written;
  const SegmentHead head = encode_segment_head(current_.number, last.first_sequence);
  const Status begun =
      write_and_sync(*current_.file, 0, std::array{std::string_view(head.data(), head.size())});
  if (!begun) return begun;
  current_.end = kSegmentHeadBytes + last.bytes;
  current_.holds_durable = true;
  return {};
}

/// Gives back what the process before had reserved.
void JournalWriter::tidy_up(const JournalEnd& end) {
  for (const std::string& path : end.blank) best_effort(files_->remove(path));
  const LastBatch& last = end.last_batch;
  if (last.bytes == 0 || end.torn.bytes > 0) return;  // torn bytes stay for whoever wants to look at them
  if (const Result<std::unique_ptr<File>> file = files_->open(last.file)) {
    best_effort((*file)->resize(last.offset + last.bytes));
  }
}

uint64_t JournalWriter::append(const Record& record) {
  TAUT_ASSERT(record.payload.size() <= kPayloadBytesMax);
  pending_.push_back(record);
  pending_.back().sequence = next_sequence_;
  return next_sequence_++;
}

Status JournalWriter::commit() {
  while (!pending_.empty()) {
    const Batch batch = next_batch();
    if (const Status room = make_room(batch.bytes); !room) return room;
    if (const Status written = write_batch(batch); !written) return written;
  }
  return {};
}

JournalWriter::Batch JournalWriter::next_batch() const {
  const uint64_t bytes_max = std::min(kBatchBytesMax, options_.segment_bytes - kSegmentHeadBytes);
  Batch batch;
  for (const Record& record : pending_) {
    const uint64_t bytes = record_bytes(record.payload.size());
    if (batch.records > 0 && batch.bytes + bytes > bytes_max) break;
    ++batch.records;
    batch.bytes += bytes;
  }
  return batch;
}

/// Sees to it that current_ takes so many bytes, which a segment without records does in any case.
Status JournalWriter::make_room(uint64_t bytes) {
  const bool empty = current_.end <= kSegmentHeadBytes;
  if (current_.file && (empty || current_.end + bytes <= options_.segment_bytes)) return {};
  current_ = std::exchange(next_, {});
  if (current_.file) return {};
  Result<Segment> created = create_segment();
  if (!created) return std::unexpected(created.error());
  current_ = *std::move(created);
  return {};
}

Status JournalWriter::write_batch(const Batch& batch) {
  encode(batch);
  if (const Status written = write_and_sync(*current_.file, current_.end, parts_); !written) {
    give_up_segment();
    return written;
  }
  current_.end = std::max(current_.end, kSegmentHeadBytes) + batch.bytes;
  current_.holds_durable = true;
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(batch.records));
  return {};
}

/// Fills parts_ with what stands in the file, the segment's head included where it is not there yet.
void JournalWriter::encode(const Batch& batch) {
  heads_.resize(std::max(heads_.size(), batch.records));
  parts_.clear();
  if (current_.end == 0) {
    segment_head_ = encode_segment_head(current_.number, pending_.front().sequence);
    parts_.emplace_back(segment_head_.data(), segment_head_.size());
  }
  for (size_t i = 0; i < batch.records; ++i) {
    const std::string_view payload = pending_[i].payload;
    heads_[i] = encode_record_head(pending_[i], static_cast<uint32_t>(i));
    parts_.emplace_back(heads_[i].data(), heads_[i].size());
    if (!payload.empty()) parts_.push_back(payload);
    const uint64_t padding = record_bytes(payload.size()) - kRecordHeadBytes - payload.size();
    if (padding > 0) parts_.emplace_back(kPadding.data(), padding);
  }
}

/// Nothing more is asked of the file but to go, if nothing durable is in it.
void JournalWriter::give_up_segment() {
  const Segment given_up = std::exchange(current_, {});
  if (!given_up.holds_durable) best_effort(files_->remove(given_up.path));
}

Status JournalWriter::prepare_next() {
  if (next_.file || (current_.file && current_.end < options_.segment_bytes / 2)) return {};
  Result<Segment> created = create_segment();
  if (!created) return std::unexpected(created.error());
  next_ = *std::move(created);
  return {};
}

Status JournalWriter::begin_segment() {
  TAUT_ASSERT(pending_.empty());
  if (current_.end <= kSegmentHeadBytes) return {};
  Result<Segment> next = next_.file ? Result<Segment>(std::exchange(next_, {})) : create_segment();
  if (!next) return std::unexpected(next.error());
  const SegmentHead head = encode_segment_head(next->number, next_sequence_);
  const Status begun = write_and_sync(*next->file, 0, std::array{std::string_view(head.data(), head.size())});
  if (!begun) {
    best_effort(files_->remove(next->path));
    return begun;
  }
  best_effort(current_.file->resize(current_.end));
  current_ = *std::move(next);
  current_.end = kSegmentHeadBytes;
  return {};
}

void JournalWriter::close() {
  for (Segment* const segment : {&current_, &next_}) {
    if (!segment->file) continue;
    if (segment->end > 0) best_effort(segment->file->resize(segment->end));
    segment->file.reset();
    if (segment->end == 0) best_effort(files_->remove(segment->path));
  }
}

}  // namespace taut::journal
