#include "journal/journal_follower.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "journal/journal_testing.h"
#include "journal/snapshot.h"

namespace taut::journal {
namespace {

class JournalFollowerTest : public JournalFixture {
 protected:
  static constexpr JournalFollower::Limits kNoLimit{.records = SIZE_MAX, .payload_bytes = SIZE_MAX};

  /// Takes what it says up to there; fails where a record is not the next one, or is another than `truth_`.
  size_t follow(JournalFollower& follower, uint64_t up_to, const JournalFollower::Limits& limits = kNoLimit) {
    const Result<size_t> read = follower.read(up_to, limits, [&](const Record& record) {
      EXPECT_EQ(record.sequence, seen_.size() + 1);
      seen_.emplace_back(record.payload);
      return Status();
    });
    EXPECT_TRUE(read) << read.error().message;
    return read.value_or(0);
  }
  static std::string error_of(JournalFollower& follower, uint64_t up_to) {
    const Result<size_t> read = follower.read(up_to, kNoLimit, [](const Record&) { return Status(); });
    return read ? "none" : read.error().message;
  }
  /// What a reader finds.
  std::vector<std::string> whole() {
    std::vector<std::string> payloads;
    for (const OwnedRecord& record : records()) payloads.push_back(record.payload);
    return payloads;
  }

  std::vector<std::string> seen_;
};

TEST_F(JournalFollowerTest, ReadsWhatIsDurableAndNothingBeyond) {
  JournalWriter writer = this->writer();
  JournalFollower follower(files_, kDirectory, 0);
  EXPECT_EQ(follow(follower, 0), 0U) << "there is nothing, not even a file with a head";
  commit(writer, 3);
  EXPECT_EQ(follow(follower, 2), 2U);
  EXPECT_EQ(follow(follower, 2), 0U);
  commit(writer, 2);
  EXPECT_EQ(follow(follower, 5), 3U);
  EXPECT_EQ(seen_, whole());
}

TEST_F(JournalFollowerTest, GoesOnThroughAnyNumberOfSegmentsInAnySteps) {
  for (const size_t step : {1U, 2U, 3U, 7U, 1000U}) {
    seen_.clear();
    JournalWriter writer = this->writer();
    JournalFollower follower(files_, kDirectory, 0);
    for (int i = 0; i < 60; ++i) {
      commit(writer, 1 + i % 3, 100 + static_cast<size_t>(i) * 7);
      follow(follower, writer.durable_sequence(), {.records = step, .payload_bytes = SIZE_MAX});
    }
    while (follow(follower, writer.durable_sequence(), {.records = step, .payload_bytes = SIZE_MAX}) > 0) {
    }
    EXPECT_EQ(seen_, whole());
    EXPECT_EQ(follower.position(), writer.durable_sequence());
    writer.close();
  }
}

TEST_F(JournalFollowerTest, AByteLimitEndsBehindTheRecordThatReachesIt) {
  JournalWriter writer = this->writer();
  commit(writer, 5, 100);
  JournalFollower follower(files_, kDirectory, 0);
  EXPECT_EQ(follow(follower, 5, {.records = 9, .payload_bytes = 201}), 3U);
  EXPECT_EQ(follow(follower, 5, {.records = 9, .payload_bytes = 1}), 1U);
}

TEST_F(JournalFollowerTest, BeginsBehindAnyRecord) {
  JournalWriter writer = this->writer();
  for (int i = 0; i < 40; ++i) commit(writer, 2, 300);
  for (uint64_t after = 0; after <= 80; ++after) {
    JournalFollower follower(files_, kDirectory, after);
    seen_.assign(after, "");
    EXPECT_EQ(follow(follower, 80), 80 - after);
  }
}

TEST_F(JournalFollowerTest, WhatAGivenUpSegmentHoldsFromTheNextOneOnIsVoid) {
  JournalWriter writer = this->writer();
  commit(writer, 3);
  JournalFollower follower(files_, kDirectory, 0);
  follow(follower, writer.durable_sequence());
  // The records land in the file, and the sync fails: they come again in the next segment.
  append(writer, "fourth");
  files_.fail_call(MemoryFileSystem::Call::sync);
  ASSERT_FALSE(writer.commit());
  EXPECT_EQ(follow(follower, writer.durable_sequence()), 0U);
  // Were they read where they were first, bytes of another life would count.
  const std::string path = segment_path(1);
  std::string content = files_.content(path);
  content.replace(content.find("fourth"), 6, "FOURTH");
  files_.set_content(path, content);
  ASSERT_TRUE(writer.commit());
  commit(writer, 2);
  follow(follower, writer.durable_sequence());
  ASSERT_EQ(seen_.size(), 6U);
  EXPECT_EQ(seen_[3], "fourth");
  EXPECT_EQ(seen_, whole());
}

TEST_F(JournalFollowerTest, ARecordThatTheVisitorRefusesComesAgain) {
  JournalWriter writer = this->writer();
  commit(writer, 3);
  JournalFollower follower(files_, kDirectory, 0);
  const Result<size_t> read = follower.read(3, kNoLimit, [](const Record& record) {
    return record.sequence == 2 ? Status(fail("not now")) : Status();
  });
  EXPECT_EQ(read.error().message, "not now");
  EXPECT_EQ(follower.position(), 1U);
  seen_ = {""};
  EXPECT_EQ(follow(follower, 3), 2U);
}

TEST_F(JournalFollowerTest, RecordsThatAreGoneAreAnErrorAndAnEmptyStoreBeginsWithTheOldest) {
  JournalWriter writer = this->writer();
  for (int i = 0; i < 40; ++i) commit(writer, 1, 400);
  {
    Result<SnapshotWriter> snapshot = SnapshotWriter::open(files_, kDirectory, 20);
    ASSERT_TRUE(snapshot);
    ASSERT_TRUE(snapshot->finish());
  }
  const Result<uint64_t> removed = remove_covered(files_, kDirectory, UINT64_MAX);
  ASSERT_TRUE(removed);
  ASSERT_GT(*removed, 0U);
  const uint64_t oldest = *find_segments(files_, kDirectory)->front().first_sequence;
  ASSERT_GT(oldest, 1U);

  JournalFollower late(files_, kDirectory, oldest - 2);
  EXPECT_EQ(error_of(late, 40),
            kDirectory + ": record " + std::to_string(oldest - 1) + " is not there any more");
  JournalFollower in_time(files_, kDirectory, oldest - 1);
  EXPECT_EQ(error_of(in_time, 40), "none");
  JournalFollower fresh(files_, kDirectory, 0);
  seen_.assign(oldest - 1, "");
  EXPECT_EQ(follow(fresh, 40), 40 - (oldest - 1));
}

TEST_F(JournalFollowerTest, DamageIsNamedAndNeverPassedOver) {
  JournalWriter writer = this->writer();
  commit(writer, 3);
  flip(segment_path(1), 32 + 80 + 40);
  JournalFollower follower(files_, kDirectory, 0);
  EXPECT_EQ(error_of(follower, 3), segment_path(1) + ": damaged at byte 104: record 2 cannot be read");
  EXPECT_EQ(follower.position(), 1U);
}

/// A writer that fails, dies and comes back at random, and a follower that is never told of it.
TEST_F(JournalFollowerTest, FollowsAWriterThroughFailuresAndRestarts) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    MemoryFileSystem files(seed);
    ASSERT_TRUE(files.create_directory("data"));
    ASSERT_TRUE(files.sync_directory("."));
    JournalFollower follower(files, kDirectory, 0);
    std::vector<std::string> seen;
    for (int life = 0; life < 6; ++life) {
      std::vector<std::string> there;
      const auto end = read_journal(files, kDirectory, [&there](const Record& record) {
        there.emplace_back(record.payload);
        return Status();
      });
      ASSERT_TRUE(end) << end.error().message;
      ASSERT_GE(there.size(), seen.size()) << "what was followed was durable";
      there.resize(seen.size());
      ASSERT_EQ(seen, there);
      std::deque<std::string> payloads;
      auto writer = JournalWriter::open(files, {.directory = kDirectory, .segment_bytes = 4096}, *end);
      ASSERT_TRUE(writer);
      for (int step = 0; step < 20; ++step) {
        for (uint64_t n = 1 + random() % 3; n > 0; --n) {
          payloads.push_back(std::string(random() % 500, static_cast<char>('a' + random() % 26)));
          writer->append({.payload = payloads.back()});
        }
        if (random() % 6 == 0) files.fail_call(MemoryFileSystem::Call::sync);
        static_cast<void>(writer->commit());
        const Result<size_t> read =
            follower.read(writer->durable_sequence(), {.records = 1 + random() % 9, .payload_bytes = 4096},
                          [&seen](const Record& record) {
                            EXPECT_EQ(record.sequence, seen.size() + 1);
                            seen.emplace_back(record.payload);
                            return Status();
                          });
        ASSERT_TRUE(read) << read.error().message;
      }
      {
        const auto gone = std::move(*writer);
      }
      files.restart(MemoryFileSystem::Crash::power);
    }
    EXPECT_GT(seen.size(), 50U);
  }
}

}  // namespace
}  // namespace taut::journal
