#include "gateway/data_directory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace taut::gateway {
namespace {

class DataDirectory : public testing::Test {
 protected:
  DataDirectory()
      : root_(std::filesystem::temp_directory_path() / ("taut-data-" + std::to_string(::getpid()))) {}
  ~DataDirectory() override { std::filesystem::remove_all(root_); }
  std::filesystem::path root_;
};

TEST_F(DataDirectory, IsCreatedWithItsParents) {
  const auto lock = lock_data_directory(root_ / "a" / "b");
  ASSERT_TRUE(lock) << lock.error().message;
  EXPECT_TRUE(std::filesystem::is_directory(root_ / "a" / "b"));
}

TEST_F(DataDirectory, HasOneOwnerAtATime) {
  {
    const auto first = lock_data_directory(root_);
    ASSERT_TRUE(first);
    const auto second = lock_data_directory(root_);
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().message.find("another taut"), std::string::npos);
  }
  EXPECT_TRUE(lock_data_directory(root_)) << "the lock ends with its owner";
}

TEST_F(DataDirectory, SaysWhatIsInTheWay) {
  std::filesystem::create_directories(root_);
  std::ofstream(root_ / "file") << "x";
  const auto lock = lock_data_directory(root_ / "file");
  ASSERT_FALSE(lock);
  EXPECT_NE(lock.error().message.find("file"), std::string::npos);
}

}  // namespace
}  // namespace taut::gateway
