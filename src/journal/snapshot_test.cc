#include "journal/snapshot.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "journal/format.h"
#include "journal/journal_testing.h"
#include "journal/segments.h"

namespace taut::journal {
namespace {

class SnapshotTest : public JournalFixture {
 protected:
  /// Segments with a few records each, the newest begun.
  void fill(int records) {
    JournalWriter w = writer();
    for (int i = 0; i < records; ++i) {
      append(w, std::string(700, 'x'));
      ASSERT_TRUE(w.commit());
    }
  }
  [[nodiscard]] std::vector<Segment> segments() { return *find_segments(files_, kDirectory); }
  /// One of as many records as given.
  [[nodiscard]] Status snapshot(uint64_t sequence, int records = 3) {
    Result<SnapshotWriter> made = SnapshotWriter::open(files_, kDirectory, sequence);
    if (!made) return std::unexpected(made.error());
    for (int i = 0; i < records; ++i) {
      const std::string payload = "{\"n\":" + std::to_string(i) + "}";
      if (const Status appended =
              made->append({.time_ms = i, .shard = 3, .type = RecordType::state, .payload = payload});
          !appended)
        return appended;
    }
    return made->finish();
  }
  [[nodiscard]] Result<std::vector<OwnedRecord>> read() {
    const auto found = find_snapshot(files_, kDirectory);
    EXPECT_TRUE(found && *found);
    std::vector<OwnedRecord> all;
    const auto bytes = read_snapshot(files_, **found, [&](const Record& record) {
      all.emplace_back(record);
      return Status();
    });
    if (!bytes) return std::unexpected(bytes.error());
    return all;
  }
  [[nodiscard]] std::vector<uint64_t> sequences(JournalRange range) {
    std::vector<uint64_t> all;
    findings_ = examine_journal(
        files_, kDirectory,
        [&](const Record& record) {
          all.push_back(record.sequence);
          return Status();
        },
        range);
    EXPECT_TRUE(findings_) << findings_.error().message;
    return all;
  }
};

TEST_F(SnapshotTest, IsReadAsItWasWritten) {
  fill(1);
  ASSERT_TRUE(snapshot(7));
  const auto all = read();
  ASSERT_TRUE(all) << all.error().message;
  ASSERT_EQ(all->size(), 3U);
  EXPECT_EQ((*all)[2].payload, "{\"n\":2}");
  EXPECT_EQ((*all)[2].record.sequence, 3U);
  EXPECT_EQ((*all)[2].record.shard, 3U);
  EXPECT_EQ((*all)[2].record.time_ms, 2);
  ASSERT_TRUE(snapshot(1'000'000, 0));
  EXPECT_EQ((*find_snapshot(files_, kDirectory))->sequence, 1'000'000U) << "the newest counts";
  EXPECT_TRUE(read()->empty());
}

TEST_F(SnapshotTest, LongOnesAreWrittenInParts) {
  fill(1);
  Result<SnapshotWriter> made = SnapshotWriter::open(files_, kDirectory, 1);
  const std::string payload(kPayloadBytesMax, 'y');
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(made->append({.type = RecordType::state, .payload = payload}));
  EXPECT_EQ(made->bytes(), kSegmentHeadBytes + 5 * kRecordBytesMax);
  ASSERT_TRUE(made->finish());
  EXPECT_EQ(read()->size(), 5U);
}

TEST_F(SnapshotTest, EveryFlippedByteIsFound) {
  fill(1);
  ASSERT_TRUE(snapshot(1));
  const std::string path = (*find_snapshot(files_, kDirectory))->path;
  for (uint64_t at = 0; at < files_.content(path).size(); ++at) {
    flip(path, at);
    EXPECT_FALSE(read()) << "byte " << at;
    flip(path, at);
  }
  EXPECT_TRUE(read());
}

TEST_F(SnapshotTest, ACrashLeavesTheOldOneOrTheNewOne) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    for (uint64_t changes = 0; changes < 12; ++changes) {
      MemoryFileSystem files(seed);
      ASSERT_TRUE(files.create_directory("data"));
      ASSERT_TRUE(files.create_directory(kDirectory));
      ASSERT_TRUE(files.sync_directory("."));
      ASSERT_TRUE(files.sync_directory("data"));
      const auto write = [&](uint64_t sequence) {
        Result<SnapshotWriter> made = SnapshotWriter::open(files, kDirectory, sequence);
        if (!made) return false;
        return made->append({.type = RecordType::state, .payload = "{}"}) && made->finish();
      };
      ASSERT_TRUE(write(1));
      files.stop_after(changes);
      const bool written = write(2);
      files.restart(MemoryFileSystem::Crash::power);
      const auto found = find_snapshot(files, kDirectory);
      ASSERT_TRUE(found && *found);
      EXPECT_EQ((*found)->sequence == 2 || !written, true) << "what was finished stays";
      EXPECT_TRUE(read_snapshot(files, **found, [](const Record&) { return Status(); })) << "and is whole";
    }
  }
}

TEST_F(SnapshotTest, AnAttemptGetsAFileOfItsOwnThoughThatOfAFailedOneCouldNotBeRemoved) {
  fill(3);
  files_.fail_call(MemoryFileSystem::Call::write, 0);
  files_.fail_call(MemoryFileSystem::Call::remove, 0);
  EXPECT_FALSE(snapshot(2));
  files_.restart(MemoryFileSystem::Crash::process);
  files_.fail_call(MemoryFileSystem::Call::remove, 0);
  EXPECT_FALSE(snapshot(2)) << "and as long as it cannot be removed there is none";
  ASSERT_TRUE(snapshot(2));
  const auto records = read();
  ASSERT_TRUE(records);
  EXPECT_EQ(records->size(), 3U);
}

TEST_F(SnapshotTest, SegmentsGoWhenItCoversThemAndNobodyNeedsThem) {
  fill(20);
  const size_t before = segments().size();
  ASSERT_GT(before, 3U);
  const uint64_t settled = settled_sequence(segments());
  EXPECT_EQ(settled, *segments().back().first_sequence - 1);
  EXPECT_EQ(*remove_covered(files_, kDirectory, UINT64_MAX), 0U) << "no snapshot";
  ASSERT_TRUE(snapshot(*segments()[1].first_sequence - 2));
  EXPECT_EQ(*remove_covered(files_, kDirectory, UINT64_MAX), 0U) << "it does not cover the first one's last";
  ASSERT_TRUE(snapshot(*segments()[2].first_sequence));
  EXPECT_EQ(*remove_covered(files_, kDirectory, *segments()[1].first_sequence), 1U) << "as far as is allowed";
  EXPECT_EQ(*remove_covered(files_, kDirectory, UINT64_MAX), 1U) << "as far as it covers";
  EXPECT_EQ(segments().size(), before - 2);
  EXPECT_EQ(*removed_through(files_, kDirectory), *segments()[0].first_sequence - 1);
  ASSERT_TRUE(snapshot(20));
  EXPECT_EQ(*remove_covered(files_, kDirectory, UINT64_MAX), before - 3) << "never the newest";
  EXPECT_EQ((*files_.list_directory(kDirectory)).size(), 2U) << "one segment, one snapshot";
}

TEST_F(SnapshotTest, ARangeIsReadWhereverItBegins) {
  fill(20);
  for (uint64_t after = 0; after <= 20; ++after) {
    for (uint64_t up_to = after + 1; up_to <= 20; ++up_to) {
      const std::vector<uint64_t> found = sequences({.after = after, .up_to = up_to});
      ASSERT_EQ(found.size(), up_to - after);
      EXPECT_EQ(found.front(), after + 1);
      EXPECT_EQ(found.back(), up_to);
      EXPECT_FALSE(findings_->damage);
    }
    EXPECT_EQ(sequences({.after = after}).size(), 20 - after);
    EXPECT_FALSE(findings_->damage);
    EXPECT_EQ(findings_->end.next_sequence, 21U);
  }
}

TEST_F(SnapshotTest, AJournalThatBeginsBehindItsSnapshotOrEndsBeforeItIsDamaged) {
  fill(20);
  ASSERT_TRUE(files_.remove(segments()[0].path));
  const uint64_t first = *segments()[0].first_sequence;
  EXPECT_TRUE(sequences({.after = first - 2}).empty());
  ASSERT_TRUE(findings_->damage);
  EXPECT_EQ(findings_->damage->sequence, first - 1);
  EXPECT_EQ(sequences({.after = first - 1}).size(), 21 - first);
  EXPECT_FALSE(findings_->damage);
  EXPECT_TRUE(sequences({.after = 25}).empty());
  ASSERT_TRUE(findings_->damage);
  EXPECT_EQ(findings_->damage->sequence, 21U);
  EXPECT_EQ(findings_->damage->sequence_max, 25U);
}

TEST_F(SnapshotTest, TheJournalGoesOnBehindASnapshotThatIsAllThereIs) {
  fill(3);
  ASSERT_TRUE(snapshot(3));
  for (const Segment& segment : segments()) ASSERT_TRUE(files_.remove(segment.path));
  EXPECT_TRUE(sequences({.after = 3}).empty());
  EXPECT_FALSE(findings_->damage);
  auto next = JournalWriter::open(files_, {.directory = kDirectory, .segment_bytes = 4096}, findings_->end);
  ASSERT_TRUE(next);
  EXPECT_EQ(append(*next, "{}"), 4U);
  ASSERT_TRUE(next->commit());
  EXPECT_EQ(sequences({.after = 3}), (std::vector<uint64_t>{4}));
}

}  // namespace
}  // namespace taut::journal
