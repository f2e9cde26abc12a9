// For tests: a journal in memory, and what is read from it.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_files.h"
#include "journal/journal_reader.h"
#include "journal/journal_writer.h"

namespace taut::journal {

inline const std::string kDirectory = "data/journal";

inline std::string segment_path(uint64_t number) {
  return kDirectory + "/" + segment_name(number);
}

/// A record and the bytes that its payload views.
struct OwnedRecord {
  explicit OwnedRecord(const Record& from) : record(from), payload(from.payload) {}
  Record record;
  std::string payload;
};

/// Segments of 4 KiB in MemoryFileSystem, so that few records fill one.
class JournalFixture : public testing::Test {
 protected:
  explicit JournalFixture(uint64_t seed = 1) : files_(seed) {
    EXPECT_TRUE(files_.create_directory("data"));
    EXPECT_TRUE(files_.sync_directory("."));
  }

  /// Everything that can be read, in order.
  std::vector<OwnedRecord> records() {
    std::vector<OwnedRecord> all;
    findings_ = examine_journal(files_, kDirectory, [&](const Record& record) {
      all.emplace_back(record);
      return Status();
    });
    return all;
  }
  /// How far it can be read, and what ends it there.
  JournalFindings examine() {
    (void)records();
    EXPECT_TRUE(findings_) << findings_.error().message;
    return *findings_;
  }
  /// A writer behind what is there.
  JournalWriter writer(uint64_t segment_bytes = 4096) {
    Result<JournalWriter> made =
        JournalWriter::open(files_, {.directory = kDirectory, .segment_bytes = segment_bytes}, examine().end);
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }
  uint64_t append(JournalWriter& writer, std::string payload, RecordType type = RecordType::item) {
    payloads_.push_back(std::move(payload));
    return writer.append(
        {.time_ms = 1'700'000'000'000, .shard = 3, .type = type, .payload = payloads_.back()});
  }
  /// One batch of `count` records with payloads of `bytes` bytes.
  void commit(JournalWriter& writer, int count, size_t bytes = 40) {
    for (int i = 0; i < count; ++i) append(writer, std::string(bytes, static_cast<char>('a' + i % 26)));
    ASSERT_TRUE(writer.commit());
  }
  /// One byte of a file as another.
  void flip(const std::string& path, uint64_t offset) {
    std::string content = files_.content(path);
    content.at(offset) = static_cast<char>(content.at(offset) ^ 0x40);
    files_.set_content(path, std::move(content));
  }

  MemoryFileSystem files_;
  std::deque<std::string> payloads_;  ///< what the writer's records view
  Result<JournalFindings> findings_;
};

}  // namespace taut::journal
