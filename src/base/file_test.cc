#include "base/file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace taut {
namespace {

class PosixFiles : public testing::Test {
 protected:
  PosixFiles() {
    std::string pattern = testing::TempDir() + "taut-file-XXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~PosixFiles() override { std::filesystem::remove_all(directory_); }

  std::string path(const std::string& name) const { return directory_ + "/" + name; }
  std::string put(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }

  std::string directory_;
  PosixFileSystem files_;
};

TEST_F(PosixFiles, ReadFrontStopsAtTheBoundOrTheEnd) {
  const std::string content("ab\0cd", 5);
  put("x", content);
  EXPECT_EQ(files_.read_front(path("x"), 5).value(), content);
  EXPECT_EQ(files_.read_front(path("x"), 4).value(), content.substr(0, 4));
  EXPECT_EQ(files_.read_front(path("x"), 6).value(), content);
  EXPECT_EQ(files_.read_front(put("empty", ""), 0).value(), "");
}

TEST_F(PosixFiles, ReadFrontNamesTheFileAndTheReason) {
  EXPECT_EQ(files_.read_front(path("missing"), 10).error().message,
            path("missing") + ": No such file or directory");
  EXPECT_FALSE(files_.read_front(directory_, 10));
}

TEST_F(PosixFiles, WritesPartsOneBehindTheOtherHoweverMany) {
  auto file = files_.open(path("x"));
  ASSERT_TRUE(file);
  std::string expected = "....";
  std::vector<std::string> owned;
  for (int i = 0; i < 300; ++i)
    owned.push_back(std::string(static_cast<size_t>(i % 5), static_cast<char>('a' + i % 26)));
  std::vector<std::string_view> parts(owned.begin(), owned.end());
  for (const std::string& part : owned) expected += part;
  ASSERT_TRUE((*file)->write_at(0, std::array<std::string_view, 1>{"...."}));
  ASSERT_TRUE((*file)->write_at(4, parts));
  ASSERT_TRUE((*file)->write_at(0, {}));
  EXPECT_EQ(files_.read_front(path("x"), 10'000).value(), expected);
  EXPECT_EQ((*file)->size().value(), expected.size());
}

TEST_F(PosixFiles, ReadAtStopsAtTheEndOfTheFile) {
  auto file = files_.open(put("x", "0123456789"));
  ASSERT_TRUE(file);
  std::array<char, 4> out{};
  EXPECT_EQ((*file)->read_at(2, out).value(), 4u);
  EXPECT_EQ(std::string_view(out.data(), 4), "2345");
  EXPECT_EQ((*file)->read_at(8, out).value(), 2u);
  EXPECT_EQ(std::string_view(out.data(), 2), "89");
  EXPECT_EQ((*file)->read_at(20, out).value(), 0u);
}

TEST_F(PosixFiles, OpenCreatesPrivateFilesAndKeepsExistingContent) {
  ASSERT_TRUE(files_.open(path("new")));
  struct stat status{};
  ASSERT_EQ(stat(path("new").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0077U, 0u);
  ASSERT_TRUE(files_.open(put("old", "content")));
  EXPECT_EQ(files_.read_front(path("old"), 100).value(), "content");
  EXPECT_FALSE(files_.open(path("no/such/directory")));
}

TEST_F(PosixFiles, PreallocateMakesTheFileLongAndKeepsWhatItHolds) {
  auto file = files_.open(put("x", "abc"));
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->preallocate(100'000));
  EXPECT_EQ((*file)->size().value(), 100'000u);
  ASSERT_TRUE((*file)->preallocate(10));
  EXPECT_EQ((*file)->size().value(), 100'000u);
  EXPECT_EQ(files_.read_front(path("x"), 100'000).value().substr(0, 4), std::string("abc\0", 4));
  struct stat status{};
  ASSERT_EQ(stat(path("x").c_str(), &status), 0);
  EXPECT_GE(status.st_blocks * 512, 100'000);
}

TEST_F(PosixFiles, ResizeCutsAndFillsWithZeros) {
  auto file = files_.open(put("x", "abc"));
  ASSERT_TRUE(file);
  ASSERT_TRUE((*file)->resize(1));
  ASSERT_TRUE((*file)->resize(3));
  EXPECT_EQ(files_.read_front(path("x"), 10).value(), std::string("a\0\0", 3));
}

TEST_F(PosixFiles, OpenForReadingCreatesAndChangesNothing) {
  EXPECT_EQ(files_.open_for_reading(path("missing")).error().message,
            path("missing") + ": No such file or directory");
  EXPECT_FALSE(files_.exists(path("missing")).value());
  EXPECT_FALSE(files_.open_for_reading(directory_));
  auto file = files_.open_for_reading(put("x", "abc"));
  ASSERT_TRUE(file);
  EXPECT_FALSE((*file)->write_at(0, std::array<std::string_view, 1>{"z"}));
  EXPECT_FALSE((*file)->resize(0));
  std::array<char, 4> out{};
  EXPECT_EQ((*file)->read_at(0, out).value(), 3u);
}

TEST_F(PosixFiles, RenameReplacesAndRemoveRemoves) {
  ASSERT_TRUE(files_.rename(put("a", "new"), put("b", "old")));
  EXPECT_EQ(files_.read_front(path("b"), 10).value(), "new");
  EXPECT_FALSE(files_.exists(path("a")).value());
  EXPECT_FALSE(files_.rename(path("a"), path("b")));
  ASSERT_TRUE(files_.remove(path("b")));
  EXPECT_FALSE(files_.exists(path("b")).value());
  EXPECT_EQ(files_.remove(path("b")).error().message, path("b") + ": No such file or directory");
  EXPECT_FALSE(files_.exists(put("c", "") + "/d")) << "that cannot be told of what is below a file";
}

TEST_F(PosixFiles, DirectoriesAreCreatedAndListed) {
  ASSERT_TRUE(files_.create_directory(path("d")));
  ASSERT_TRUE(files_.create_directory(path("d")));
  put("d/b", "");
  put("d/a", "");
  EXPECT_EQ(files_.list_directory(path("d")).value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(files_.create_directory(put("file", "")));
  EXPECT_FALSE(files_.create_directory(path("no/d")));
  EXPECT_FALSE(files_.list_directory(path("no")));
  EXPECT_FALSE(files_.list_directory(path("file")));
}

TEST_F(PosixFiles, SyncsFilesAndDirectories) {
  auto file = files_.open(path("x"));
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->sync_data());
  EXPECT_TRUE(files_.sync_directory(directory_));
  EXPECT_FALSE(files_.sync_directory(path("missing")));
  EXPECT_FALSE(files_.sync_directory(path("x")));
}

TEST_F(PosixFiles, ReportAFullDisk) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
  auto file = files_.open("/dev/full");
  ASSERT_TRUE(file);
  const Status status = (*file)->write_at(0, std::array<std::string_view, 1>{"x"});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "/dev/full: No space left on device");
}

}  // namespace
}  // namespace taut
