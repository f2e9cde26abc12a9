#include "journal/journal_reader.h"

#include <gmock/gmock.h>

#include "base/bytes.h"
#include "journal/crc32c.h"
#include "journal/journal_testing.h"

namespace taut::journal {
namespace {

using testing::HasSubstr;

class JournalReader : public JournalFixture {
 protected:
  /// What a second process may not build upon.
  std::string refusal() {
    const auto read = read_journal(files_, kDirectory, [](const Record&) { return Status(); });
    return read ? "" : read.error().message;
  }
  static constexpr uint64_t kRecordBytes = record_bytes(40);
};

TEST_F(JournalReader, FindsNothingWhereThereIsNoJournal) {
  EXPECT_TRUE(records().empty());
  EXPECT_EQ(findings_->end.next_sequence, 1U);
  EXPECT_EQ(findings_->end.next_segment, 1U);
  EXPECT_TRUE(findings_->end.clean);
  EXPECT_EQ(refusal(), "");
}

TEST_F(JournalReader, ReadsBackWhatWasCommittedOverAllSegments) {
  JournalWriter writer = this->writer();
  for (int batch = 0; batch < 100; ++batch) commit(writer, 1 + batch % 5, static_cast<size_t>(batch));
  const std::vector<OwnedRecord> all = records();
  ASSERT_EQ(all.size(), payloads_.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].record.sequence, i + 1);
    EXPECT_EQ(all[i].record.time_ms, 1'700'000'000'000);
    EXPECT_EQ(all[i].record.shard, 3U);
    EXPECT_EQ(all[i].payload, payloads_[i]);
  }
  EXPECT_GT(findings_->segments, 3U);
  EXPECT_EQ(findings_->end.torn.bytes, 0U);
}

TEST_F(JournalReader, AnEndIsCleanWhenTheLastRecordSaysSo) {
  JournalWriter writer = this->writer();
  commit(writer, 1);
  EXPECT_FALSE(examine().end.clean);
  append(writer, "{}", RecordType::stopped);
  ASSERT_TRUE(writer.commit());
  EXPECT_TRUE(examine().end.clean);
}

TEST_F(JournalReader, ATornTailEndsTheJournalAtAnyByte) {
  JournalWriter writer = this->writer();
  commit(writer, 3);
  commit(writer, 4, 24);
  const std::string whole = files_.content(segment_path(1));
  const uint64_t begin = kSegmentHeadBytes + 3 * kRecordBytes;
  const uint64_t end = begin + 4 * record_bytes(24);
  for (uint64_t cut = begin; cut < end; ++cut) {
    for (const bool zeros_behind : {false, true}) {
      std::string content = whole.substr(0, cut);
      if (zeros_behind) content.resize(whole.size());
      files_.set_content(segment_path(1), std::move(content));
      const JournalFindings found = examine();
      ASSERT_FALSE(found.damage) << found.damage->what;
      const uint64_t records = 3 + (cut - begin) / record_bytes(24);
      ASSERT_EQ(found.end.next_sequence, records + 1) << cut;
      ASSERT_FALSE(found.end.clean);
    }
  }
}

TEST_F(JournalReader, SectorsOfOneCommitMayLandInAnyOrder) {
  JournalWriter writer = this->writer();
  commit(writer, 2);
  commit(writer, 5);
  flip(segment_path(1), kSegmentHeadBytes + 4 * kRecordBytes + 50);  // the third of the second commit
  const JournalFindings found = examine();
  EXPECT_FALSE(found.damage);
  EXPECT_EQ(found.end.next_sequence, 5U);
  EXPECT_EQ(found.end.torn.file, segment_path(1));
  EXPECT_EQ(found.end.torn.offset, kSegmentHeadBytes + 4 * kRecordBytes);
  EXPECT_EQ(found.end.torn.bytes, 3 * kRecordBytes);
}

TEST_F(JournalReader, EveryByteThatALaterCommitProvesDurableIsDamageWhenItIsAnother) {
  JournalWriter writer = this->writer();
  commit(writer, 2);
  commit(writer, 1);
  const std::string whole = files_.content(segment_path(1));
  for (uint64_t offset = 0; offset < kSegmentHeadBytes + 2 * kRecordBytes; ++offset) {
    files_.set_content(segment_path(1), whole);
    flip(segment_path(1), offset);
    const JournalFindings found = examine();
    ASSERT_TRUE(found.damage) << offset;
    const bool in_head = offset < kSegmentHeadBytes;
    const uint64_t record = in_head ? 0 : (offset - kSegmentHeadBytes) / kRecordBytes;
    EXPECT_EQ(found.damage->segment, 1U);
    EXPECT_EQ(found.damage->offset, in_head ? 0 : kSegmentHeadBytes + record * kRecordBytes);
    EXPECT_EQ(found.damage->sequence, record + 1);
    EXPECT_EQ(found.damage->sequence_max, 3U);
    EXPECT_EQ(found.end.next_sequence, record + 1);
  }
  EXPECT_THAT(refusal(),
              HasSubstr("journal-0000000000000001.log: damaged at byte 104: records 2 to 3 cannot be read"));
  EXPECT_THAT(refusal(), HasSubstr("taut journal repair"));
}

TEST_F(JournalReader, ADurableRecordThatWasZeroedIsDamageToo) {
  JournalWriter writer = this->writer();
  for (int i = 0; i < 5; ++i) commit(writer, 1);
  std::string content = files_.content(segment_path(1));
  content.replace(kSegmentHeadBytes + kRecordBytes, 2 * kRecordBytes, 2 * kRecordBytes, '\0');
  files_.set_content(segment_path(1), std::move(content));
  const JournalFindings found = examine();
  ASSERT_TRUE(found.damage);
  EXPECT_EQ(found.damage->sequence, 2U);
  EXPECT_EQ(found.damage->sequence_max, 5U);
}

TEST_F(JournalReader, NothingIsTornInASegmentThatAnotherFollows) {
  JournalWriter writer = this->writer();
  while (writer.next_sequence() < 200) commit(writer, 3);
  std::string content = files_.content(segment_path(1));
  const uint64_t last = content.find_last_not_of('\0');
  flip(segment_path(1), last);
  const JournalFindings found = examine();
  ASSERT_TRUE(found.damage);
  EXPECT_EQ(found.damage->segment, 1U);
  EXPECT_EQ(found.damage->sequence_max, 201U);
}

TEST_F(JournalReader, AMissingSegmentIsNamedByWhatFollowsIt) {
  JournalWriter writer = this->writer();
  while (writer.next_sequence() < 200) commit(writer, 3);
  const std::vector<OwnedRecord> whole = records();
  ASSERT_TRUE(files_.remove(segment_path(2)));
  JournalFindings found = examine();
  ASSERT_TRUE(found.damage);
  EXPECT_EQ(found.damage->segment, 3U);
  EXPECT_EQ(found.damage->offset, 0U);
  EXPECT_THAT(found.damage->what,
              HasSubstr("are missing: data/journal/journal-0000000000000003.log begins behind them"));
  ASSERT_TRUE(files_.remove(segment_path(1)));
  found = examine();
  ASSERT_TRUE(found.damage);
  EXPECT_EQ(found.damage->sequence, 1U);
  EXPECT_EQ(found.end.next_sequence, 1U);
}

TEST_F(JournalReader, ADamagedHeadBetweenOthersIsTheOneToBlame) {
  JournalWriter writer = this->writer();
  while (writer.next_sequence() < 200) commit(writer, 3);
  flip(segment_path(2), 20);
  const JournalFindings found = examine();
  ASSERT_TRUE(found.damage);
  EXPECT_EQ(found.damage->segment, 2U);
  EXPECT_EQ(found.damage->offset, 0U);
  EXPECT_EQ(found.damage->sequence_max, 201U);
}

TEST_F(JournalReader, ASegmentUnderAnothersNameIsDamage) {
  JournalWriter writer = this->writer();
  while (writer.next_sequence() < 200) commit(writer, 3);
  files_.set_content(segment_path(2), files_.content(segment_path(3)));
  EXPECT_EQ(examine().damage->segment, 2U);
}

TEST_F(JournalReader, RefusesWhatANewerTautWrote) {
  JournalWriter writer = this->writer();
  commit(writer, 2);
  EXPECT_EQ(refusal(), "");
  const std::string whole = files_.content(segment_path(1));
  std::string newer = whole;
  newer[8] = 2;
  const std::string_view head = std::string_view(newer).substr(0, kSegmentHeadBytes);
  store_le(newer.data() + 12, crc32c(head.substr(16), crc32c(head.substr(0, 12))));
  files_.set_content(segment_path(1), newer);
  EXPECT_EQ(refusal(),
            "data/journal/journal-0000000000000001.log: a newer taut wrote it, in format 2; this one reads "
            "format 1");
}

TEST_F(JournalReader, RefusesAKindOfRecordThatItDoesNotKnow) {
  JournalWriter writer = this->writer();
  commit(writer, 2);
  append(writer, "{}", static_cast<RecordType>(99));
  ASSERT_TRUE(writer.commit());
  EXPECT_EQ(refusal(),
            "data/journal/journal-0000000000000001.log: record 3 is of kind 99: a newer taut wrote it");
}

TEST_F(JournalReader, IgnoresOtherFiles) {
  JournalWriter writer = this->writer();
  commit(writer, 2);
  files_.set_content(kDirectory + "/journal-0000000000000001.log.damaged", "x");
  files_.set_content(kDirectory + "/README", "x");
  EXPECT_EQ(examine().end.next_sequence, 3U);
  EXPECT_EQ(findings_->segments, 1U);
}

TEST_F(JournalReader, AnErrorOfTheDiskIsNoTornTail) {
  JournalWriter writer = this->writer();
  commit(writer, 2);
  constexpr uint64_t kReads = 6;  // is it there, its names, open and read the head, open and read the rest
  for (uint64_t good = 0; good < kReads; ++good) {
    files_.fail_call(MemoryFileSystem::Call::read, good);
    const auto read = read_journal(files_, kDirectory, [](const Record&) { return Status(); });
    ASSERT_FALSE(read) << good;
    EXPECT_THAT(read.error().message, HasSubstr("Input/output error"));
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(JournalReader, ItsVisitorEndsTheReading) {
  JournalWriter writer = this->writer();
  commit(writer, 3);
  int visited = 0;
  const auto read = read_journal(files_, kDirectory, [&](const Record&) -> Status {
    return ++visited == 2 ? fail("enough") : Status();
  });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "enough");
  EXPECT_EQ(visited, 2);
}

}  // namespace
}  // namespace taut::journal
