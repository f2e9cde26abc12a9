#include "journal/format.h"

#include <charconv>
#include <cstring>

#include "base/assert.h"
#include "base/bytes.h"
#include "journal/crc32c.h"

namespace taut::journal {

namespace {

constexpr std::string_view kMagic = "TAUTJRNL";
constexpr std::string_view kSnapshotMagic = "TAUTSNAP";
constexpr std::string_view kNameBegin = "journal-";
constexpr std::string_view kSnapshotBegin = "snapshot-";
constexpr std::string_view kNameEnd = ".log";
constexpr size_t kNameDigits = 16;

// Offsets in the head of a file: of a segment its number and its first sequence, of a snapshot the last
// record that it covers and how many follow.
constexpr size_t kHeadVersion = 8;
constexpr size_t kHeadCrc = 12;
constexpr size_t kHeadFirst = 16;
constexpr size_t kHeadSecond = 24;

// Offsets in the head of a record.
constexpr size_t kRecordLength = 0;
constexpr size_t kRecordCrc = 4;
constexpr size_t kRecordSequence = 8;
constexpr size_t kRecordTime = 16;
constexpr size_t kRecordShard = 24;
constexpr size_t kRecordType = 26;
constexpr size_t kRecordBatchIndex = 28;

constexpr std::array<char, kRecordAlignment> kZeros{};

/// Over everything but the four bytes of the check sum itself.
uint32_t crc_around(std::string_view bytes, size_t crc_at) {
  return crc32c(bytes.substr(crc_at + sizeof(uint32_t)), crc32c(bytes.substr(0, crc_at)));
}

std::string numbered_name(std::string_view begin, uint64_t number) {
  const std::string digits = std::to_string(number);
  TAUT_ASSERT(digits.size() <= kNameDigits);
  return std::string(begin) + std::string(kNameDigits - digits.size(), '0') + digits + std::string(kNameEnd);
}

std::optional<uint64_t> number_in_name(std::string_view begin, std::string_view name) {
  if (name.size() != begin.size() + kNameDigits + kNameEnd.size()) return std::nullopt;
  if (!name.starts_with(begin) || !name.ends_with(kNameEnd)) return std::nullopt;
  uint64_t number = 0;
  const char* const digits = name.data() + begin.size();
  const auto [end, error] = std::from_chars(digits, digits + kNameDigits, number);
  if (error != std::errc() || end != digits + kNameDigits) return std::nullopt;
  return number;
}

template <class T>
T load(std::string_view in, size_t offset) {
  return load_le<T>(in.data() + offset);
}

/// What the heads of both kinds of files say.
struct Head {
  uint16_t version = 0;
  uint64_t first = 0;
  uint64_t second = 0;
};

SegmentHead encode_head(std::string_view magic, uint64_t first, uint64_t second) {
  SegmentHead head{};
  magic.copy(head.data(), magic.size());
  store_le(head.data() + kHeadVersion, kFormatVersion);
  store_le(head.data() + kHeadFirst, first);
  store_le(head.data() + kHeadSecond, second);
  store_le(head.data() + kHeadCrc, crc_around({head.data(), head.size()}, kHeadCrc));
  return head;
}

std::optional<Head> decode_head(std::string_view magic, std::string_view in) {
  if (in.size() < kSegmentHeadBytes || !in.starts_with(magic)) return std::nullopt;
  in = in.substr(0, kSegmentHeadBytes);
  if (load<uint32_t>(in, kHeadCrc) != crc_around(in, kHeadCrc)) return std::nullopt;
  return Head{.version = load<uint16_t>(in, kHeadVersion),
              .first = load<uint64_t>(in, kHeadFirst),
              .second = load<uint64_t>(in, kHeadSecond)};
}

}  // namespace

std::string journal_directory(const std::string& data_directory) {
  return data_directory + "/journal";
}

std::string segment_name(uint64_t number) {
  return numbered_name(kNameBegin, number);
}

std::optional<uint64_t> segment_number(std::string_view name) {
  return number_in_name(kNameBegin, name);
}

std::string snapshot_name(uint64_t sequence) {
  return numbered_name(kSnapshotBegin, sequence);
}

std::optional<uint64_t> snapshot_sequence(std::string_view name) {
  return number_in_name(kSnapshotBegin, name);
}

SegmentHead encode_segment_head(uint64_t number, uint64_t first_sequence) {
  return encode_head(kMagic, number, first_sequence);
}

std::optional<SegmentStart> decode_segment_head(std::string_view in) {
  const std::optional<Head> head = decode_head(kMagic, in);
  if (!head) return std::nullopt;
  return SegmentStart{.version = head->version, .number = head->first, .first_sequence = head->second};
}

SnapshotHead encode_snapshot_head(uint64_t sequence, uint64_t records) {
  return encode_head(kSnapshotMagic, sequence, records);
}

std::optional<SnapshotStart> decode_snapshot_head(std::string_view in) {
  const std::optional<Head> head = decode_head(kSnapshotMagic, in);
  if (!head) return std::nullopt;
  return SnapshotStart{.version = head->version, .sequence = head->first, .records = head->second};
}

RecordHead encode_record_head(const Record& record, uint32_t batch_index) {
  TAUT_ASSERT(record.payload.size() <= kPayloadBytesMax);
  RecordHead head{};
  const uint64_t length = kRecordHeadBytes + record.payload.size();
  store_le(head.data() + kRecordLength, static_cast<uint32_t>(length));
  store_le(head.data() + kRecordSequence, record.sequence);
  store_le(head.data() + kRecordTime, static_cast<uint64_t>(record.time_ms));
  store_le(head.data() + kRecordShard, record.shard);
  head[kRecordType] = static_cast<char>(record.type);
  store_le(head.data() + kRecordBatchIndex, batch_index);
  uint32_t crc = crc32c(record.payload, crc_around({head.data(), head.size()}, kRecordCrc));
  crc = crc32c({kZeros.data(), record_bytes(record.payload.size()) - length}, crc);
  store_le(head.data() + kRecordCrc, crc);
  return head;
}

uint64_t stored_record_bytes(std::string_view in) {
  TAUT_ASSERT(in.size() >= sizeof(uint32_t));
  const uint64_t length = load<uint32_t>(in, kRecordLength);
  if (length < kRecordHeadBytes || length > kRecordHeadBytes + kPayloadBytesMax) return 0;
  return record_bytes(length - kRecordHeadBytes);
}

uint64_t stored_sequence(std::string_view in) {
  TAUT_ASSERT(in.size() >= kRecordHeadBytes);
  return load<uint64_t>(in, kRecordSequence);
}

std::optional<StoredRecord> decode_record(std::string_view in) {
  TAUT_ASSERT(in.size() >= kRecordHeadBytes && in.size() == stored_record_bytes(in));
  if (load<uint32_t>(in, kRecordCrc) != crc_around(in, kRecordCrc)) return std::nullopt;
  const uint64_t length = load<uint32_t>(in, kRecordLength);
  return StoredRecord{.record = {.sequence = load<uint64_t>(in, kRecordSequence),
                                 .time_ms = static_cast<int64_t>(load<uint64_t>(in, kRecordTime)),
                                 .shard = load<uint16_t>(in, kRecordShard),
                                 .type = static_cast<RecordType>(in[kRecordType]),
                                 .payload = in.substr(kRecordHeadBytes, length - kRecordHeadBytes)},
                      .batch_index = load<uint32_t>(in, kRecordBatchIndex)};
}

}  // namespace taut::journal
