#include "journal/journal_writer.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "core/allocation_counter.h"
#include "journal/journal_testing.h"
#include "journal/segments.h"

namespace taut::journal {
namespace {

using Call = MemoryFileSystem::Call;
using Crash = MemoryFileSystem::Crash;

class JournalWriterTest : public JournalFixture {
 protected:
  /// How many segments there are.
  size_t segments() { return files_.list_directory(kDirectory)->size(); }
  uint64_t bytes(uint64_t segment) { return files_.content(segment_path(segment)).size(); }
};

TEST_F(JournalWriterTest, NumbersRecordsFromOneOnAndGoesOnAfterARestart) {
  {
    JournalWriter writer = this->writer();
    EXPECT_EQ(writer.next_sequence(), 1U);
    EXPECT_EQ(append(writer, "a"), 1U);
    EXPECT_EQ(append(writer, "b"), 2U);
    EXPECT_EQ(writer.durable_sequence(), 0U);
    EXPECT_EQ(writer.pending_records(), 2U);
    ASSERT_TRUE(writer.commit());
    EXPECT_EQ(writer.durable_sequence(), 2U);
    EXPECT_EQ(writer.pending_records(), 0U);
    writer.close();
  }
  JournalWriter writer = this->writer();
  EXPECT_EQ(writer.durable_sequence(), 2U);
  EXPECT_EQ(append(writer, "c"), 3U);
  ASSERT_TRUE(writer.commit());
  const auto all = records();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[2].payload, "c");
}

TEST_F(JournalWriterTest, NothingIsWrittenWithoutACommit) {
  JournalWriter writer = this->writer();
  append(writer, "a");
  EXPECT_TRUE(records().empty());
  ASSERT_TRUE(writer.commit());
  ASSERT_TRUE(writer.commit());
  EXPECT_EQ(records().size(), 1U);
}

TEST_F(JournalWriterTest, EachProcessBeginsASegmentAndLeavesTheOthersAlone) {
  for (uint64_t life = 1; life <= 3; ++life) {
    JournalWriter writer = this->writer();
    commit(writer, 2);
    writer.close();
  }
  EXPECT_EQ(segments(), 3U);
  const std::string first = files_.content(segment_path(1));
  JournalWriter writer = this->writer();
  commit(writer, 2);
  EXPECT_EQ(files_.content(segment_path(1)), first);
  EXPECT_EQ(records().size(), 8U);
}

TEST_F(JournalWriterTest, GoesToTheNextSegmentWhenOneIsFull) {
  JournalWriter writer = this->writer(1024);
  while (segments() < 4) commit(writer, 1);
  for (uint64_t segment = 1; segment <= 4; ++segment) EXPECT_EQ(bytes(segment), 1024U);
  EXPECT_EQ(records().size(), payloads_.size());
}

TEST_F(JournalWriterTest, ABatchIsBoundedAndARecordThatFitsNowhereGetsASegmentOfItsOwn) {
  JournalWriter writer = this->writer(1024);
  for (int i = 0; i < 50; ++i) append(writer, std::string(100, 'x'));
  append(writer, std::string(5000, 'y'));
  append(writer, "z");
  ASSERT_TRUE(writer.commit());
  EXPECT_EQ(writer.durable_sequence(), 52U);
  EXPECT_EQ(records().size(), 52U);
  const JournalFindings found = examine();
  EXPECT_FALSE(found.damage);
  EXPECT_GT(found.segments, 6U);
}

TEST_F(JournalWriterTest, TakesTheLongestPayloadInABatchOfItsOwn) {
  JournalWriter writer = this->writer(16U << 20);
  for (int i = 0; i < 9; ++i) append(writer, std::string(kPayloadBytesMax, static_cast<char>('a' + i)));
  ASSERT_TRUE(writer.commit());
  const auto all = records();
  ASSERT_EQ(all.size(), 9U);
  EXPECT_EQ(all[8].payload, payloads_[8]);
  EXPECT_EQ(findings_->end.last_batch.first_sequence, 8U) << "7 with their heads are what 8 MiB hold";
}

TEST_F(JournalWriterTest, ThePreparedSegmentIsUsedNextAndGoesIfItIsNot) {
  JournalWriter writer = this->writer();
  ASSERT_TRUE(writer.prepare_next());
  EXPECT_EQ(segments(), 1U) << "not before half of the present one is used";
  while (records().size() * record_bytes(40) < 2048) commit(writer, 1);
  ASSERT_TRUE(writer.prepare_next());
  ASSERT_TRUE(writer.prepare_next());
  EXPECT_EQ(segments(), 2U);
  files_.fail_call(Call::open);  // a commit has no file to create now
  for (int i = 0; i < 60; ++i) commit(writer, 1);
  EXPECT_EQ(segments(), 2U);
  EXPECT_FALSE(writer.prepare_next()) << "the fault was still there";
  ASSERT_TRUE(writer.prepare_next());
  EXPECT_EQ(segments(), 3U);
  writer.close();
  EXPECT_EQ(segments(), 2U);
}

TEST_F(JournalWriterTest, ASegmentIsBegunWhenItIsAskedFor) {
  JournalWriter writer = this->writer();
  ASSERT_TRUE(writer.begin_segment());
  EXPECT_EQ(segments(), 1U) << "the present one is empty";
  commit(writer, 2);
  for (const Call call : {Call::open, Call::preallocate, Call::write, Call::sync}) {
    files_.fail_call(call);
    EXPECT_FALSE(writer.begin_segment());
    EXPECT_EQ(segments(), 1U);
    commit(writer, 1);
  }
  EXPECT_EQ(settled_sequence(*find_segments(files_, kDirectory)), 0U);
  ASSERT_TRUE(writer.begin_segment());
  EXPECT_EQ(settled_sequence(*find_segments(files_, kDirectory)), 6U) << "before a record is in it";
  EXPECT_EQ(bytes(1), kSegmentHeadBytes + 6 * record_bytes(40)) << "what was reserved is given back";
  ASSERT_TRUE(writer.begin_segment());
  EXPECT_EQ(segments(), 2U);
  EXPECT_EQ(records().size(), 6U);
  commit(writer, 1);
  while (segments() < 3) {
    commit(writer, 1);
    ASSERT_TRUE(writer.prepare_next());
  }
  ASSERT_TRUE(writer.begin_segment());
  EXPECT_EQ(segments(), 3U) << "the prepared one is taken";
  const size_t before = records().size();
  commit(writer, 1);
  EXPECT_EQ(records().size(), before + 1);
}

TEST_F(JournalWriterTest, CloseGivesBackWhatIsReserved) {
  JournalWriter writer = this->writer();
  EXPECT_EQ(bytes(1), 4096U);
  commit(writer, 2);
  writer.close();
  EXPECT_EQ(bytes(1), kSegmentHeadBytes + 2 * record_bytes(40));
  JournalWriter idle = this->writer();
  idle.close();
  EXPECT_EQ(examine().end.next_sequence, 3U);
}

TEST_F(JournalWriterTest, TheNextProcessGivesBackWhatACrashLeft) {
  {
    JournalWriter writer = this->writer();
    commit(writer, 30);
    ASSERT_TRUE(writer.prepare_next());
  }
  EXPECT_EQ(segments(), 2U);
  JournalWriter writer = this->writer();
  EXPECT_EQ(segments(), 2U) << "the blank one went, a new one came";
  EXPECT_FALSE(*files_.exists(segment_path(2)));
  EXPECT_EQ(bytes(1), kSegmentHeadBytes + 30 * record_bytes(40));
  EXPECT_EQ(records().size(), 30U);
}

// -- faults --

struct Fault {
  std::string name;
  Call call;
  uint64_t after;
  bool loses_segment;  ///< a segment in which something is durable is given up
};

class JournalWriterFault : public JournalWriterTest, public testing::WithParamInterface<Fault> {};

INSTANTIATE_TEST_SUITE_P(Journal, JournalWriterFault,
                         testing::Values(Fault{"write", Call::write, 0, true},
                                         Fault{"sync", Call::sync, 0, true},
                                         Fault{"open", Call::open, 0, false},
                                         Fault{"preallocate", Call::preallocate, 0, false},
                                         Fault{"sync_of_a_new_file", Call::sync, 0, false},
                                         Fault{"sync_directory", Call::sync_directory, 0, false}),
                         [](const auto& fault) { return fault.param.name; });

TEST_P(JournalWriterFault, IsReportedAndTheRecordsGoIntoANewSegment) {
  for (const Crash crash : {Crash::process, Crash::power}) {
    SCOPED_TRACE(crash == Crash::power);
    files_.restart(Crash::process);
    const uint64_t before = examine().end.next_sequence - 1;
    {
      JournalWriter writer = this->writer();
      // Where the fault is one of creating a segment, the batch fits into none that there is.
      commit(writer, GetParam().loses_segment ? 2 : 50);
      for (int i = 0; i < 20; ++i) append(writer, "after the fault");
      files_.fail_call(GetParam().call, GetParam().after);
      const Status failed = writer.commit();
      ASSERT_FALSE(failed);
      EXPECT_NE(failed.error().message.find("Input/output error"), std::string::npos);
      EXPECT_EQ(writer.pending_records(), 20U);
      ASSERT_TRUE(writer.commit());
      EXPECT_EQ(writer.pending_records(), 0U);
      commit(writer, 3);
    }
    files_.restart(crash);
    const auto all = records();
    ASSERT_EQ(all.size(), before + (GetParam().loses_segment ? 25U : 73U));
    EXPECT_FALSE(findings_->damage);
    EXPECT_EQ(std::ranges::count(all, "after the fault", &OwnedRecord::payload) % 20, 0);
  }
}

TEST_F(JournalWriterTest, ErrorsGoOnAsLongAsTheDiskIsFullAndNothingIsLost) {
  JournalWriter writer = this->writer();
  commit(writer, 40);
  files_.set_space(4096 + 100);
  for (int i = 0; i < 40; ++i) append(writer, std::string(40, 'x'));
  for (int i = 0; i < 5; ++i) {
    const Status failed = writer.commit();
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("No space left on device"), std::string::npos);
    EXPECT_EQ(writer.durable_sequence(), 40U);
  }
  EXPECT_EQ(segments(), 1U) << "an attempt leaves nothing behind";
  files_.set_space(1'000'000);
  ASSERT_TRUE(writer.commit());
  EXPECT_EQ(writer.durable_sequence(), 80U);
  EXPECT_EQ(records().size(), 80U);
}

TEST_F(JournalWriterTest, ADiskThatFailsAgainAndAgainLeavesNoHeapOfFiles) {
  JournalWriter writer = this->writer();
  commit(writer, 3);
  append(writer, "patient");
  for (int i = 0; i < 10; ++i) {
    files_.fail_call(i % 2 == 0 ? Call::write : Call::sync, i % 2);  // the first sync is the new file's own
    ASSERT_FALSE(writer.commit());
    EXPECT_LE(segments(), 2U);
  }
  ASSERT_TRUE(writer.commit());
  EXPECT_EQ(records().back().payload, "patient");
}

TEST_F(JournalWriterTest, WhatWasReadIsDurableAgainEvenIfItsSyncHadFailed) {
  {
    JournalWriter writer = this->writer();
    commit(writer, 2);
    append(writer, "seen by a reader, and not on the disk");
    files_.fail_call(Call::sync);
    ASSERT_FALSE(writer.commit());
  }
  files_.restart(Crash::process);  // the kernel still has the bytes, and takes them for written
  ASSERT_EQ(records().size(), 3U);
  {
    JournalWriter writer = this->writer();
    EXPECT_EQ(writer.durable_sequence(), 3U);
    commit(writer, 1);
  }
  files_.restart(Crash::power);
  const auto all = records();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[2].payload, "seen by a reader, and not on the disk");
}

TEST(JournalWriter, AllocatesNothingOnceItsTablesHaveTheirSize) {
  if (!allocation_counter_available()) GTEST_SKIP() << "the sanitizer has its own malloc";
  std::string folder = testing::TempDir() + "taut-journal-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  PosixFileSystem files;
  auto writer = JournalWriter::open(files, {.directory = folder + "/journal", .segment_bytes = 1U << 20}, {});
  ASSERT_TRUE(writer) << writer.error().message;
  const std::string payload(201, 'x');
  const auto commit_some = [&] {
    for (int i = 0; i < 64; ++i) writer->append({.time_ms = 1, .payload = payload});
    ASSERT_TRUE(writer->commit());
  };
  commit_some();
  const uint64_t before = allocations_this_thread();
  for (int i = 0; i < 5; ++i) commit_some();
  EXPECT_EQ(allocations_this_thread() - before, 0U);
  EXPECT_EQ(writer->durable_sequence(), 6 * 64U);
  writer->close();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace taut::journal
