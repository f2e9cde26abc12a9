#include "base/memory_files.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace taut {
namespace {

using Call = MemoryFileSystem::Call;
using Crash = MemoryFileSystem::Crash;

Status write(File& file, uint64_t offset, std::string_view bytes) {
  return file.write_at(offset, std::array{bytes});
}

/// A file "x" of which the name and "durable" are on the disk.
std::unique_ptr<File> durable_file(MemoryFileSystem& files) {
  auto file = *files.open("x");
  EXPECT_TRUE(write(*file, 0, "durable"));
  EXPECT_TRUE(file->sync_data());
  EXPECT_TRUE(files.sync_directory("."));
  return file;
}

TEST(MemoryFiles, BehaveLikeFiles) {
  MemoryFileSystem files;
  const auto file = *files.open("x");
  ASSERT_TRUE(write(*file, 3, "abc"));
  ASSERT_TRUE(file->preallocate(10));
  ASSERT_TRUE(file->preallocate(5));
  EXPECT_EQ(*file->size(), 10U);
  std::array<char, 4> out{};
  EXPECT_EQ(*file->read_at(2, out), 4U);
  EXPECT_EQ(std::string_view(out.data(), 4), std::string_view("\0abc", 4));
  EXPECT_EQ(*file->read_at(8, out), 2U);
  EXPECT_EQ(*file->read_at(20, out), 0U);
  ASSERT_TRUE(file->resize(4));
  EXPECT_EQ(*files.read_front("x", 100), std::string("\0\0\0a", 4));
  EXPECT_EQ(files.read_front("y", 1).error().message, "y: No such file or directory");
  EXPECT_FALSE(files.open("no/y"));
  const auto reading = *files.open_for_reading("x");
  EXPECT_FALSE(write(*reading, 0, "z"));
}

TEST(MemoryFiles, HaveNamesInDirectories) {
  MemoryFileSystem files;
  ASSERT_TRUE(files.create_directory("d"));
  ASSERT_TRUE(files.create_directory("d"));
  for (const char* path : {"d/b", "d/a", "e"}) ASSERT_TRUE(files.open(path));
  EXPECT_EQ(*files.list_directory("d"), (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(files.rename("d/a", "d/b"));
  EXPECT_EQ(*files.list_directory("d"), std::vector<std::string>{"b"});
  ASSERT_TRUE(files.remove("d/b"));
  EXPECT_FALSE(*files.exists("d/b"));
  EXPECT_FALSE(files.remove("d/b"));
  EXPECT_FALSE(files.list_directory("e"));
  EXPECT_FALSE(files.create_directory("e"));
  EXPECT_FALSE(files.open("d"));
}

TEST(MemoryFiles, KeepWhatWasSyncedAndAnyPartOfTheRest) {
  std::set<std::string> outcomes;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    MemoryFileSystem files(seed);
    auto file = durable_file(files);
    ASSERT_TRUE(write(*file, 7, std::string(2'000, 'y')));
    file.reset();
    files.restart(Crash::power);
    const std::string& content = files.content("x");
    EXPECT_EQ(content.substr(0, 7), "durable");
    EXPECT_EQ(content.find_first_not_of(std::string("y\0", 2), 7), std::string::npos);
    outcomes.insert(content);
  }
  EXPECT_TRUE(outcomes.contains("durable"));
  EXPECT_TRUE(outcomes.contains("durable" + std::string(2'000, 'y')));
  EXPECT_GT(outcomes.size(), 20U) << "and much between";
}

TEST(MemoryFiles, OutliveTheProcessButNotItsLastNames) {
  bool kept = false;
  bool lost = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    MemoryFileSystem files(seed);
    durable_file(files).reset();
    ASSERT_TRUE(write(**files.open("y"), 0, "abc"));
    files.restart(Crash::process);
    EXPECT_EQ(files.content("y"), "abc");
    files.restart(Crash::power);
    EXPECT_EQ(files.content("x"), "durable");
    (*files.exists("y") ? kept : lost) = true;
  }
  EXPECT_TRUE(kept && lost);
}

TEST(MemoryFiles, FailOnceAndAsOrdered) {
  MemoryFileSystem files;
  const auto file = durable_file(files);
  files.fail_call(Call::open, 1);
  EXPECT_TRUE(files.open("a"));
  EXPECT_FALSE(files.open("b"));
  EXPECT_TRUE(files.open("b"));
  files.fail_call(Call::sync_directory);
  EXPECT_FALSE(files.sync_directory("."));
  files.fail_call(Call::write);
  EXPECT_EQ(write(*file, 0, "DURABLE").error().message, "x: Input/output error");
  const std::string& content = files.content("x");
  for (size_t i = 0; i < content.size(); ++i)
    EXPECT_TRUE(content[i] == "durable"[i] || content[i] == "DURABLE"[i]);
}

TEST(MemoryFiles, ForgetWhatASyncCouldNotWriteAndShowItAllTheSame) {
  bool lost = false;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    MemoryFileSystem files(seed);
    auto file = durable_file(files);
    ASSERT_TRUE(write(*file, 0, "DURABLE"));
    files.fail_call(Call::sync);
    EXPECT_FALSE(file->sync_data());
    EXPECT_EQ(files.content("x"), "DURABLE");
    file.reset();
    files.restart(Crash::power);
    lost |= files.content("x") == "durable";
  }
  EXPECT_TRUE(lost);
}

TEST(MemoryFilesDeathTest, RefuseASecondSyncAfterAFailedOne) {
  MemoryFileSystem files;
  const auto file = durable_file(files);
  files.fail_call(Call::sync);
  EXPECT_FALSE(file->sync_data());
  EXPECT_DEATH((void)file->sync_data(), "has failed");
  EXPECT_DEATH((void)write(*file, 0, "x"), "has failed");
}

TEST(MemoryFiles, RunFullInTheMiddleOfAWrite) {
  MemoryFileSystem files;
  const auto file = durable_file(files);
  files.set_space(10);
  EXPECT_EQ(file->preallocate(11).error().message, "x: No space left on device");
  EXPECT_TRUE(file->preallocate(8));
  EXPECT_EQ(write(*file, 7, "12345").error().message, "x: No space left on device");
  EXPECT_EQ(files.content("x"), "durable123");
}

TEST(MemoryFiles, StopAtAnyChange) {
  MemoryFileSystem files;
  auto file = durable_file(files);
  files.stop_after(1);
  EXPECT_TRUE(write(*file, 0, "D"));
  EXPECT_FALSE(files.stopped());
  EXPECT_FALSE(write(*file, 1, "U"));
  EXPECT_TRUE(files.stopped());
  EXPECT_FALSE(file->sync_data());
  EXPECT_FALSE(files.open("y"));
  EXPECT_FALSE(files.read_front("x", 1));
  file.reset();
  files.restart(Crash::process);
  EXPECT_EQ(files.content("x"), "DUrable") << "the write that was met by the stop had begun";
}

}  // namespace
}  // namespace taut
