#include "journal/journal_reader.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "journal/file_window.h"
#include "journal/format.h"
#include "journal/remains.h"
#include "journal/segments.h"

namespace taut::journal {

namespace {

std::string records_text(uint64_t first, uint64_t last) {
  return first >= last ? "record " + std::to_string(first)
                       : "records " + std::to_string(first) + " to " + std::to_string(last);
}

/// One reading from the first segment that is needed to the last.
class Examination {
 public:
  Examination(FileSystem& files, std::vector<Segment> segments, const RecordVisitor& visit,
              JournalRange range)
      : files_(files),
        segments_(std::move(segments)),
        visit_(visit),
        range_(range),
        buffer_(std::make_unique_for_overwrite<char[]>(FileWindow::kBufferBytes)) {
    found_.segments = segments_.size();
    if (!segments_.empty()) found_.end.next_segment = segments_.back().number + 1;
    next() = range.after + 1;
    for (size_t i = 0; i < segments_.size(); ++i) {
      if (!segments_[i].counts() || *segments_[i].first_sequence > range.after + 1) continue;
      begin_ = i;
      next() = *segments_[i].first_sequence;
    }
  }

  [[nodiscard]] Result<JournalFindings> run() {
    const Status read = read_segments();
    if (!read) return std::unexpected(read.error());
    if (!found_.damage && next() <= range_.after) note_end_before(range_.after);
    found_.end.clean = !found_.damage && (next() == 1 || last_type_ == RecordType::stopped);
    return std::move(found_);
  }

 private:
  [[nodiscard]] uint64_t& next() { return found_.end.next_sequence; }

  [[nodiscard]] Status read_segments() {
    size_t behind = begin_;  // the segments from here on have no readable head, or count no longer
    for (size_t i = begin_; i < segments_.size() && !found_.damage; ++i) {
      if (next() > range_.up_to) return {};
      if (!segments_[i].counts()) continue;
      if (const Status read = read_segment(i, behind); !read) return read;
      behind = i + 1;
    }
    for (size_t i = behind; i < segments_.size() && !found_.damage; ++i) {
      if (segments_[i].first_sequence) continue;
      if (const Status looked = look_at_headless(i); !looked) return looked;
    }
    return {};
  }

  [[nodiscard]] Status read_segment(size_t i, size_t behind) {
    const Segment& segment = segments_[i];
    if (*segment.first_sequence != next()) return note_gap(behind, i);
    const auto file = files_.open_for_reading(segment.path);
    if (!file) return std::unexpected(file.error());
    FileWindow window(**file, {buffer_.get(), FileWindow::kBufferBytes});
    const Result<uint64_t> stopped = read_records(segment, window);
    if (!stopped) return std::unexpected(stopped.error());
    if (next() == segment.void_from || next() > range_.up_to) return {};
    const Result<Remains> remains = search_remains(window, *stopped, next());
    if (!remains) return std::unexpected(remains.error());
    const bool torn = remains->end > *stopped;
    if (remains->proves_loss || (torn && segment.void_from != UINT64_MAX)) return note_damage(i, *stopped);
    if (segment.void_from != UINT64_MAX) return note_gap(i + 1, next_that_counts(i));
    if (torn) found_.end.torn = {.file = segment.path, .offset = *stopped, .bytes = remains->end - *stopped};
    return {};
  }

  /// Visits the records that follow one another. Returns the place behind the last of them.
  [[nodiscard]] Result<uint64_t> read_records(const Segment& segment, FileWindow& window) {
    uint64_t offset = kSegmentHeadBytes;
    while (next() < segment.void_from && next() <= range_.up_to) {
      const auto found = window.record_at(offset);
      if (!found) return std::unexpected(found.error());
      if (!*found || !follows(**found, segment)) break;
      const Record& record = (*found)->record;
      if (record_type_name(record.type).empty()) {
        return fail(segment.path + ": record " + std::to_string(next()) + " is of kind " +
                    std::to_string(static_cast<int>(record.type)) + ": a newer taut wrote it");
      }
      if (next() > range_.after) {
        if (const Status visited = visit_(record); !visited) return std::unexpected(visited.error());
      }
      const uint64_t bytes = record_bytes(record.payload.size());
      LastBatch& last = found_.end.last_batch;
      if ((*found)->batch_index == 0) {
        last = {.file = segment.path, .offset = offset, .bytes = 0, .first_sequence = next()};
      }
      last.bytes += bytes;
      last_type_ = record.type;
      offset += bytes;
      ++next();
    }
    return offset;
  }

  /// Whether it is the next one, and of a batch whose beginning was read.
  [[nodiscard]] bool follows(const StoredRecord& stored, const Segment& segment) {
    if (stored.record.sequence != next()) return false;
    const LastBatch& last = found_.end.last_batch;
    return stored.batch_index == 0 || (last.bytes > 0 && last.file == segment.path &&
                                       last.first_sequence + stored.batch_index == next());
  }

  [[nodiscard]] size_t next_that_counts(size_t i) const {
    do ++i;
    while (!segments_[i].counts());
    return i;
  }

  /// A segment behind all others whose head says nothing: blank, torn, or damaged.
  [[nodiscard]] Status look_at_headless(size_t i) {
    const Segment& segment = segments_[i];
    const Result<Remains> remains = search(segment, 0);
    if (!remains) return std::unexpected(remains.error());
    JournalEnd& end = found_.end;
    if (remains->proves_loss) return note_damage(i, 0);
    if (remains->end == 0) {
      end.blank.push_back(segment.path);
    } else if (end.torn.bytes == 0) {
      end.torn = {.file = segment.path, .offset = 0, .bytes = remains->end};
    }
    return {};
  }

  /// The records before segment `i` are missing, and no place is to be seen where they were. The one to blame
  /// is a file between `begin` and `i` without a head, or one that is not there.
  [[nodiscard]] Status note_gap(size_t begin, size_t i) {
    for (; begin < i; ++begin) {
      const Result<Remains> remains = search(segments_[begin], 0);
      if (!remains) return std::unexpected(remains.error());
      if (!segments_[begin].first_sequence && remains->end > 0) return note_damage(begin, 0);
    }
    if (const Status noted = note_damage(i, 0); !noted) return noted;
    found_.damage->what = records_text(next(), *segments_[i].first_sequence - 1) +
                          " are missing: " + segments_[i].path + " begins behind them";
    return {};
  }

  /// A snapshot says that there was more.
  void note_end_before(uint64_t sequence) {
    found_.damage = Damage{.what = records_text(next(), sequence) + " are missing: the journal ends before",
                           .segment = found_.end.next_segment,
                           .offset = 0,
                           .sequence = next(),
                           .sequence_max = sequence};
  }

  [[nodiscard]] Status note_damage(size_t i, uint64_t offset) {
    uint64_t last = next();
    for (size_t j = i; j < segments_.size(); ++j) {
      const Result<Remains> remains = search(segments_[j], j == i ? offset : 0);
      if (!remains) return std::unexpected(remains.error());
      last = std::max(last, remains->sequence_max);
    }
    found_.damage = Damage{.what = segments_[i].path + ": damaged at byte " + std::to_string(offset) + ": " +
                                   records_text(next(), last) + " cannot be read",
                           .segment = segments_[i].number,
                           .offset = offset,
                           .sequence = next(),
                           .sequence_max = last};
    return {};
  }

  [[nodiscard]] Result<Remains> search(const Segment& segment, uint64_t offset) {
    const auto file = files_.open_for_reading(segment.path);
    if (!file) return std::unexpected(file.error());
    FileWindow window(**file, {buffer_.get(), FileWindow::kBufferBytes});
    return search_remains(window, offset, next());
  }

  FileSystem& files_;
  const std::vector<Segment> segments_;
  const RecordVisitor& visit_;
  const JournalRange range_;
  size_t begin_ = 0;  ///< the segments before hold nothing that is wanted
  const std::unique_ptr<char[]> buffer_;
  JournalFindings found_;
  std::optional<RecordType> last_type_;  ///< of the last record that was read
};

}  // namespace

Result<JournalFindings> examine_journal(FileSystem& files, const std::string& directory,
                                        const RecordVisitor& visit, JournalRange range) {
  Result<std::vector<Segment>> segments = find_segments(files, directory);
  if (!segments) return std::unexpected(segments.error());
  return Examination(files, *std::move(segments), visit, range).run();
}

Result<JournalEnd> read_journal(FileSystem& files, const std::string& directory, const RecordVisitor& visit,
                                JournalRange range) {
  Result<JournalFindings> found = examine_journal(files, directory, visit, range);
  if (!found) return std::unexpected(found.error());
  if (found->damage) {
    return fail(
        found->damage->what +
        "; taut journal check says how much is whole, taut journal dump shows it, and taut journal repair "
        "cuts the journal off there and keeps what it takes away");
  }
  return std::move(found->end);
}

}  // namespace taut::journal
