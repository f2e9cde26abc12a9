#include "journal/format.h"

#include <gtest/gtest.h>

#include <string>

namespace taut::journal {
namespace {

std::string stored(const Record& record, uint32_t batch_index) {
  const RecordHead head = encode_record_head(record, batch_index);
  std::string bytes(head.data(), head.size());
  bytes += record.payload;
  bytes.resize(record_bytes(record.payload.size()));
  return bytes;
}

/// As a reader would find it, with a file's zeros behind.
std::optional<StoredRecord> found(const std::string& bytes) {
  static std::string file;
  file = bytes + std::string(kRecordBytesMax, '\0');
  const uint64_t size = stored_record_bytes(file);
  if (size == 0) return std::nullopt;
  return decode_record(std::string_view(file).substr(0, size));
}

TEST(JournalFormat, ARecordComesBackAsItWas) {
  for (size_t size = 0; size < 20; ++size) {
    const std::string payload(size, 'x');
    const Record record{.sequence = 1ULL << 60,
                        .time_ms = -5,
                        .shard = 65'535,
                        .type = RecordType::presence,
                        .payload = payload};
    const auto back = found(stored(record, 77));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->record.sequence, record.sequence);
    EXPECT_EQ(back->record.time_ms, record.time_ms);
    EXPECT_EQ(back->record.shard, record.shard);
    EXPECT_EQ(back->record.type, record.type);
    EXPECT_EQ(back->record.payload, payload);
    EXPECT_EQ(back->batch_index, 77U);
  }
}

TEST(JournalFormat, EveryBitOfARecordCounts) {
  const std::string whole =
      stored({.sequence = 9, .time_ms = 1'700'000'000'000, .payload = R"({"kind":"text"})"}, 2);
  ASSERT_TRUE(found(whole));
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(found(damaged)) << "bit " << bit;
  }
}

TEST(JournalFormat, RecordsAreAlignedAndBounded) {
  EXPECT_EQ(record_bytes(0), 32U);
  EXPECT_EQ(record_bytes(1), 40U);
  EXPECT_EQ(record_bytes(8), 40U);
  const std::string longest(kPayloadBytesMax, 'x');
  EXPECT_EQ(found(stored({.payload = longest}, 0))->record.payload, longest);
  for (const char* length :
       {"\x00\x00\x00\x00", "\x1F\x00\x00\x00", "\x21\x00\x10\x00", "\xFF\xFF\xFF\xFF"}) {
    EXPECT_EQ(stored_record_bytes(std::string_view(length, 4)), 0U);
  }
}

TEST(JournalFormat, ASegmentsHeadIsWholeOrNothing) {
  const SegmentHead head = encode_segment_head(7, 1'000'000);
  const std::string whole(head.data(), head.size());
  const auto start = decode_segment_head(whole);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->version, kFormatVersion);
  EXPECT_EQ(start->number, 7U);
  EXPECT_EQ(start->first_sequence, 1'000'000U);
  EXPECT_FALSE(decode_segment_head(whole.substr(0, whole.size() - 1)));
  EXPECT_FALSE(decode_segment_head(std::string(whole.size(), '\0')));
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(decode_segment_head(damaged)) << "bit " << bit;
  }
}

TEST(JournalFormat, OnlySegmentsAreNamedLikeSegments) {
  EXPECT_EQ(segment_name(7), "journal-0000000000000007.log");
  EXPECT_EQ(segment_number(segment_name(7)), 7U);
  EXPECT_EQ(segment_number(segment_name(9'999'999'999'999'999)), 9'999'999'999'999'999U);
  for (const char* other :
       {"journal-7.log", "journal-000000000000000x.log", "journal--000000000000007.log",
        "journal-0000000000000007.log.damaged", "journal-0000000000000007.txt", "", "lock"}) {
    EXPECT_FALSE(segment_number(other)) << other;
  }
}

}  // namespace
}  // namespace taut::journal
