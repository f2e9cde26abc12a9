// The bytes of the journal's files, version 1 (docs/journal.md): pure, bytes in and bytes out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "journal/record.h"

namespace taut::journal {

inline constexpr uint16_t kFormatVersion = 1;
inline constexpr uint64_t kSegmentHeadBytes = 32;
inline constexpr uint64_t kRecordHeadBytes = 32;
/// Records begin at multiples of this in the file.
inline constexpr uint64_t kRecordAlignment = 8;
inline constexpr uint64_t kPayloadBytesMax = 1ULL << 20;
/// What is written and synced at once.
inline constexpr uint64_t kBatchBytesMax = 8ULL << 20;
inline constexpr uint64_t kSegmentBytesDefault = 64ULL << 20;

/// A record with its padding, in bytes.
[[nodiscard]] constexpr uint64_t record_bytes(uint64_t payload_bytes) {
  return (kRecordHeadBytes + payload_bytes + kRecordAlignment - 1) / kRecordAlignment * kRecordAlignment;
}
inline constexpr uint64_t kRecordBytesMax = record_bytes(kPayloadBytesMax);
static_assert(kRecordBytesMax <= kBatchBytesMax);

/// Where a server keeps its journal below its data directory.
[[nodiscard]] std::string journal_directory(const std::string& data_directory);
/// "journal-0000000000000007.log"; and back, or nothing for any other name.
[[nodiscard]] std::string segment_name(uint64_t number);
[[nodiscard]] std::optional<uint64_t> segment_number(std::string_view name);

// -- the head of a segment --

using SegmentHead = std::array<char, kSegmentHeadBytes>;

struct SegmentStart {
  uint16_t version = kFormatVersion;
  uint64_t number = 0;
  uint64_t first_sequence = 0;
};

[[nodiscard]] SegmentHead encode_segment_head(uint64_t number, uint64_t first_sequence);
/// Nothing unless it is whole. Of a version that is not ours only `version` means something.
[[nodiscard]] std::optional<SegmentStart> decode_segment_head(std::string_view in);

// -- the head of a snapshot --

/// "snapshot-0000000000000042.log", named by the last record that it covers; and back, or nothing.
[[nodiscard]] std::string snapshot_name(uint64_t sequence);
[[nodiscard]] std::optional<uint64_t> snapshot_sequence(std::string_view name);

using SnapshotHead = std::array<char, kSegmentHeadBytes>;

struct SnapshotStart {
  uint16_t version = kFormatVersion;
  uint64_t sequence = 0;  ///< the last record that it covers
  uint64_t records = 0;   ///< that follow
};

[[nodiscard]] SnapshotHead encode_snapshot_head(uint64_t sequence, uint64_t records);
/// As decode_segment_head().
[[nodiscard]] std::optional<SnapshotStart> decode_snapshot_head(std::string_view in);

// -- a record --

using RecordHead = std::array<char, kRecordHeadBytes>;

/// What stands before the payload. Behind it come zeros up to record_bytes(). REQUIRES: the payload is within
/// kPayloadBytesMax.
[[nodiscard]] RecordHead encode_record_head(const Record& record, uint32_t batch_index);

struct StoredRecord {
  Record record;             ///< the payload is a view of what was decoded
  uint32_t batch_index = 0;  ///< how many records of the same commit stand before it
};

/// How long the record is that begins with these bytes, padding included; 0 when none can. Reads the first
/// four. REQUIRES: in.size() ≥ 4.
[[nodiscard]] uint64_t stored_record_bytes(std::string_view in);
/// The sequence number in a head, whether the record is whole or not. REQUIRES: in.size() ≥
/// kRecordHeadBytes.
[[nodiscard]] uint64_t stored_sequence(std::string_view in);
/// The record that is exactly these bytes, or nothing when one of them is not as it was written.
/// REQUIRES: in.size() is stored_record_bytes(in), and not 0.
[[nodiscard]] std::optional<StoredRecord> decode_record(std::string_view in);

}  // namespace taut::journal
