// Crashes at every point, and faults of every kind at random: what was durable is read back once and in
// order, and nothing is read that was not appended.
#include <random>
#include <string>
#include <vector>

#include "journal/journal_testing.h"

namespace taut::journal {
namespace {

using Call = MemoryFileSystem::Call;
using Crash = MemoryFileSystem::Crash;

/// A server's lives over one journal, and what each is allowed to find there.
class Lives {
 public:
  explicit Lives(uint64_t seed) : files_(seed), random_(seed) {
    EXPECT_TRUE(files_.create_directory("data"));
    EXPECT_TRUE(files_.sync_directory("."));
  }

  /// Reads, writes until it is stopped before the change after `changes` more, or has done `batches` commits.
  /// True: it was stopped.
  bool live(uint64_t changes, int batches, double faults) {
    files_.stop_after(changes);
    work(batches, faults);
    const bool stopped = files_.stopped();
    files_.restart(random_() % 3 == 0 ? Crash::process : Crash::power);
    if (random_() % 4 == 0) files_.restart(Crash::power);  // the machine goes after the process
    return stopped;
  }

  /// What is there must be the beginning of what was appended, and all of it that was durable.
  [[nodiscard]] Result<JournalEnd> read() {
    size_t found = 0;
    auto end = read_journal(files_, kDirectory, [&](const Record& record) {
      EXPECT_EQ(record.sequence, found + 1);
      EXPECT_LT(found, appended_.size()) << "invented";
      if (found < appended_.size()) {
        EXPECT_EQ(record.payload, appended_[found]);
      }
      ++found;
      return Status();
    });
    if (!end) return end;
    EXPECT_GE(found, durable_) << "lost";
    appended_.resize(found);
    return end;
  }

  [[nodiscard]] size_t durable() const { return durable_; }

 private:
  void work(int batches, double faults) {
    const Result<JournalEnd> end = read();
    if (!end) {
      EXPECT_TRUE(files_.stopped()) << end.error().message;
      return;
    }
    Result<JournalWriter> writer =
        JournalWriter::open(files_, {.directory = kDirectory, .segment_bytes = 2048}, *end);
    if (!writer) return;
    EXPECT_EQ(writer->durable_sequence(), appended_.size());
    durable_ = appended_.size();
    for (int batch = 0; batch < batches && !files_.stopped(); ++batch) {
      if (std::uniform_real_distribution<>()(random_) < faults) fail_something();
      append_some(*writer);
      (void)writer->commit();
      durable_ = writer->durable_sequence();
      if (random_() % 3 == 0) (void)writer->prepare_next();
    }
    if (random_() % 3 == 0) writer->close();
  }

  void fail_something() {
    static constexpr Call kKinds[] = {Call::open, Call::preallocate, Call::write,         Call::sync,
                                      Call::sync, Call::remove,      Call::sync_directory};
    files_.fail_call(kKinds[random_() % std::size(kKinds)], random_() % 3);
  }

  void append_some(JournalWriter& writer) {
    const uint64_t count = 1 + random_() % 8;
    for (uint64_t i = 0; i < count; ++i) {
      appended_.push_back(std::to_string(random_()) + std::string(random_() % 200, 'x'));
      held_.push_back(appended_.back());
      writer.append({.time_ms = 1, .payload = held_.back()});
    }
  }

  MemoryFileSystem files_;
  std::mt19937_64 random_;
  std::vector<std::string> appended_;  ///< by sequence number, from 1
  std::deque<std::string> held_;       ///< what writers view
  size_t durable_ = 0;                 ///< the first so many were said to be
};

TEST(JournalCrash, AtEveryPointLosesNothingDurableAndInventsNothing) {
  constexpr int kBatches = 12;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    bool stopped = true;
    for (uint64_t changes = 0; stopped; ++changes) {
      Lives lives(seed * 1'000 + changes);
      stopped = lives.live(changes, kBatches, 0);
      lives.live(UINT64_MAX, 3, 0);
      ASSERT_TRUE(lives.read());
      ASSERT_GE(lives.durable(), 3U);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(JournalCrash, AgainAndAgainWithFaultsOfTheDiskLosesNothingDurableAndInventsNothing) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Lives lives(seed);
    std::mt19937_64 random(seed);
    for (int life = 0; life < 12; ++life) lives.live(random() % 60, 30, 0.3);
    lives.live(UINT64_MAX, 3, 0);
    const Result<JournalEnd> end = lives.read();
    ASSERT_TRUE(end) << end.error().message;
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace taut::journal
