#include "gateway/open_journal.h"

#include <gtest/gtest.h>

#include <set>

#include "base/memory_files.h"

namespace taut::gateway {
namespace {

TEST(OpenJournal, NoTwoStartsHaveTheSameTimeWhereverTheClockStands) {
  MemoryFileSystem files;
  ASSERT_TRUE(files.create_directory("data"));
  Settings settings;
  settings.data = "data";
  settings.journal_segment_bytes = 4'096;
  std::set<int64_t> starts;
  for (const int64_t wall_ms : {5'000, 1'000, 1'000, 5'001, 9'000, 9'000}) {
    const Result<OpenedJournal> opened = open_journal(files, settings, 1, 7, wall_ms);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_GE(opened->recovered.latest_ms, wall_ms);
    EXPECT_TRUE(starts.insert(opened->recovered.latest_ms).second) << opened->recovered.latest_ms;
  }
}

}  // namespace
}  // namespace taut::gateway
