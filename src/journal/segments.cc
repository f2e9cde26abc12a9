#include "journal/segments.h"

#include <algorithm>
#include <utility>

#include "journal/format.h"

namespace taut::journal {

namespace {

/// The segment that the file says it is; a head that belongs to another file is none.
Result<std::optional<uint64_t>> first_sequence_of(FileSystem& files, const Segment& segment) {
  const Result<std::string> head = files.read_front(segment.path, kSegmentHeadBytes);
  if (!head) return std::unexpected(head.error());
  const std::optional<SegmentStart> start = decode_segment_head(*head);
  if (!start) return std::nullopt;
  if (start->version != kFormatVersion) {
    return fail(segment.path + ": a newer taut wrote it, in format " + std::to_string(start->version) +
                "; this one reads format " + std::to_string(kFormatVersion));
  }
  if (start->number != segment.number || start->first_sequence == 0) return std::nullopt;
  return start->first_sequence;
}

}  // namespace

Result<std::vector<Segment>> find_segments(FileSystem& files, const std::string& directory) {
  std::vector<Segment> segments;
  const Result<bool> exists = files.exists(directory);
  if (!exists) return std::unexpected(exists.error());
  if (!*exists) return segments;
  const auto names = files.list_directory(directory);
  if (!names) return std::unexpected(names.error());
  for (const std::string& name : *names) {  // sorted, and so by number
    const std::optional<uint64_t> number = segment_number(name);
    if (!number) continue;
    Segment segment{.number = *number, .path = directory + "/" + name};
    const auto first = first_sequence_of(files, segment);
    if (!first) return std::unexpected(first.error());
    segment.first_sequence = *first;
    segments.push_back(std::move(segment));
  }
  uint64_t void_from = UINT64_MAX;
  for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
    segment->void_from = void_from;
    if (segment->first_sequence) void_from = std::min(void_from, *segment->first_sequence);
  }
  return segments;
}

uint64_t settled_sequence(const std::vector<Segment>& segments) {
  uint64_t settled = 0;
  for (const Segment& segment : segments) {
    if (segment.first_sequence) settled = *segment.first_sequence - 1;
  }
  return settled;
}

}  // namespace taut::journal
