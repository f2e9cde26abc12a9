#include "journal/journal_follower.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "journal/file_window.h"
#include "journal/format.h"

namespace taut::journal {

JournalFollower::JournalFollower(FileSystem& files, std::string directory, uint64_t after)
    : files_(files),
      directory_(std::move(directory)),
      buffer_(std::make_unique_for_overwrite<char[]>(FileWindow::kBufferBytes)),
      position_(after) {}

Result<size_t> JournalFollower::read(uint64_t up_to, const Limits& limits, const RecordVisitor& visit) {
  Course course{.up_to = up_to, .left = limits};
  while (position_ < up_to && !course.full()) {
    const Result<Segment> segment = segment_of_next();
    if (!segment) return std::unexpected(segment.error());
    if (const Status read = read_segment(*segment, course, visit); !read)
      return std::unexpected(read.error());
  }
  return course.visited;
}

/// Looked up each time: what a segment's records count may have changed, and all that is durable is in
/// segments that have their heads.
Result<Segment> JournalFollower::segment_of_next() const {
  const Result<std::vector<Segment>> segments = find_segments(files_, directory_);
  if (!segments) return std::unexpected(segments.error());
  const Segment* found = nullptr;
  for (const Segment& segment : *segments) {
    if (!segment.counts()) continue;
    const bool oldest = found == nullptr && position_ == 0;
    if (oldest || *segment.first_sequence <= position_ + 1) found = &segment;
  }
  if (found != nullptr) return *found;
  return fail(directory_ + ": record " + std::to_string(position_ + 1) + " is not there any more");
}

Status JournalFollower::read_segment(const Segment& segment, Course& course, const RecordVisitor& visit) {
  if (place_.segment != segment.number || place_.sequence > position_) {
    place_ = {
        .segment = segment.number, .sequence = *segment.first_sequence - 1, .offset = kSegmentHeadBytes};
  }
  const auto file = files_.open_for_reading(segment.path);
  if (!file) return std::unexpected(file.error());
  FileWindow window(**file, {buffer_.get(), FileWindow::kBufferBytes});
  const uint64_t last = std::min(course.up_to, segment.void_from - 1);
  while (place_.sequence < last && !course.full()) {
    const auto found = window.record_at(place_.offset);
    if (!found) return std::unexpected(found.error());
    if (!*found || (*found)->record.sequence != place_.sequence + 1) {
      return fail(segment.path + ": damaged at byte " + std::to_string(place_.offset) + ": record " +
                  std::to_string(place_.sequence + 1) + " cannot be read");
    }
    const Record& record = (*found)->record;
    if (record_type_name(record.type).empty()) {
      return fail(segment.path + ": record " + std::to_string(record.sequence) + " is of kind " +
                  std::to_string(static_cast<int>(record.type)) + ": a newer taut wrote it");
    }
    const uint64_t payload_bytes = record.payload.size();
    if (record.sequence > position_) {
      if (Status visited = visit(record); !visited) return visited;
      position_ = record.sequence;
      ++course.visited;
      --course.left.records;
      course.left.payload_bytes -= std::min(course.left.payload_bytes, payload_bytes);
    }
    place_.sequence = record.sequence;
    place_.offset += record_bytes(payload_bytes);
  }
  return {};
}

}  // namespace taut::journal
