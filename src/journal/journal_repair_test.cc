#include "journal/journal_repair.h"

#include <string>

#include "journal/journal_testing.h"

namespace taut::journal {
namespace {

using Crash = MemoryFileSystem::Crash;

class JournalRepairTest : public JournalFixture {
 protected:
  /// Segments of 1 KiB with 13 records each, the third damaged in its fifth record.
  void make_damaged() {
    JournalWriter writer = this->writer(1024);
    while (writer.next_sequence() <= 65) commit(writer, 1);
    whole_ = files_.content(segment_path(3));
    flip(segment_path(3), kDamagedAt + 40);
  }
  static constexpr uint64_t kDamagedAt = kSegmentHeadBytes + 4 * record_bytes(40);
  static constexpr uint64_t kWholeRecords = 2 * 13 + 4;
  std::string whole_;
};

TEST_F(JournalRepairTest, LeavesAWholeJournalAlone) {
  JournalWriter writer = this->writer();
  commit(writer, 3);
  const auto repair = repair_journal(files_, kDirectory);
  ASSERT_TRUE(repair);
  EXPECT_EQ(repair->records, 3U);
  EXPECT_TRUE(repair->kept.empty());
}

TEST_F(JournalRepairTest, CutsOffAtTheDamageAndKeepsWhatItTakesAway) {
  make_damaged();
  const std::string damaged = files_.content(segment_path(3));
  const std::string last = files_.content(segment_path(5));
  const auto repair = repair_journal(files_, kDirectory);
  ASSERT_TRUE(repair) << repair.error().message;
  EXPECT_EQ(repair->records, kWholeRecords);
  EXPECT_EQ(repair->sequence_max, 65U);
  EXPECT_EQ(repair->kept,
            (std::vector<std::string>{segment_path(3) + ".damaged", segment_path(5) + ".damaged",
                                      segment_path(4) + ".damaged"}));
  EXPECT_EQ(files_.content(segment_path(3)), damaged.substr(0, kDamagedAt));
  EXPECT_EQ(files_.content(segment_path(3) + ".damaged"), damaged);
  EXPECT_EQ(files_.content(segment_path(5) + ".damaged"), last);

  JournalWriter writer = this->writer(1024);
  EXPECT_EQ(append(writer, "after the repair"), kWholeRecords + 1);
  ASSERT_TRUE(writer.commit());
  EXPECT_EQ(records().size(), kWholeRecords + 1);
  EXPECT_FALSE(findings_->damage);
}

TEST_F(JournalRepairTest, ASegmentWithoutAHeadGoesAsAWhole) {
  make_damaged();
  flip(segment_path(2), 3);
  const auto repair = repair_journal(files_, kDirectory);
  ASSERT_TRUE(repair);
  EXPECT_EQ(repair->records, 13U);
  EXPECT_EQ(repair->kept.size(), 4U);
  EXPECT_EQ(examine().segments, 1U);
}

TEST_F(JournalRepairTest, AnEarlierCopyCountsAgainWhenTheOneThatVoidedItGoes) {
  {
    JournalWriter writer = this->writer();
    commit(writer, 3);
  }
  {
    JournalWriter writer = this->writer();  // has written the three again
    commit(writer, 1);
    commit(writer, 1);
  }
  flip(segment_path(2), kSegmentHeadBytes + 40);
  EXPECT_EQ(examine().end.next_sequence, 1U);
  const auto repair = repair_journal(files_, kDirectory);
  ASSERT_TRUE(repair);
  EXPECT_EQ(repair->records, 3U);
  EXPECT_EQ(repair->sequence_max, 5U);
}

TEST_F(JournalRepairTest, OverwritesNothingThatAnEarlierOneKept) {
  make_damaged();
  files_.set_content(segment_path(3) + ".damaged", "of last year");
  const auto repair = repair_journal(files_, kDirectory);
  ASSERT_TRUE(repair);
  EXPECT_EQ(files_.content(segment_path(3) + ".damaged"), "of last year");
  EXPECT_EQ(repair->kept.front(), segment_path(3) + ".damaged.2");
}

TEST_F(JournalRepairTest, AtEveryPointACrashLeavesItDamagedOrRepaired) {
  bool done = false;
  for (uint64_t changes = 0; !done; ++changes) {
    for (const Crash crash : {Crash::process, Crash::power}) {
      for (const std::string& name : files_.list_directory(kDirectory).value_or(std::vector<std::string>()))
        ASSERT_TRUE(files_.remove(kDirectory + "/" + name));
      payloads_.clear();
      make_damaged();
      ASSERT_TRUE(files_.sync_directory(kDirectory));
      files_.stop_after(changes);
      done = repair_journal(files_, kDirectory).has_value();
      files_.restart(crash);
      const JournalFindings found = examine();
      EXPECT_EQ(found.end.next_sequence, kWholeRecords + 1) << changes;
      const auto again = repair_journal(files_, kDirectory);
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(again->records, kWholeRecords);
    }
  }
}

}  // namespace
}  // namespace taut::journal
