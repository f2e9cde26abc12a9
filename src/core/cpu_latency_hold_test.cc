#include "core/cpu_latency_hold.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace taut {
namespace {

TEST(CpuLatencyHold, WritesFourZeroBytesAndKeepsTheDeviceOpenWhileItLives) {
  std::string device = (std::filesystem::temp_directory_path() / "taut-latency-XXXXXX").string();
  close(mkstemp(device.data()));
  const auto open_here = [&] {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      count += std::filesystem::read_symlink(entry, gone) == device ? 1 : 0;
    }
    return count;
  };
  {
    const auto hold = CpuLatencyHold::take(device);
    ASSERT_TRUE(hold);
    EXPECT_EQ(open_here(), 1U);
  }
  EXPECT_EQ(open_here(), 0U);
  std::array<char, 5> bytes{1, 1, 1, 1, 1};
  std::ifstream file(device, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  EXPECT_EQ(file.gcount(), 4);
  EXPECT_EQ(bytes, (std::array<char, 5>{0, 0, 0, 0, 1}));
  std::filesystem::remove(device);
}

TEST(CpuLatencyHold, NamesTheDeviceThatIsNotThere) {
  const auto hold = CpuLatencyHold::take("/no/such/device");
  ASSERT_FALSE(hold);
  EXPECT_EQ(hold.error().message, "/no/such/device: No such file or directory");
}

}  // namespace
}  // namespace taut
