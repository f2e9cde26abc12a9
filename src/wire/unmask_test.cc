#include "wire/unmask.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace taut::wire {
namespace {

/// The definition in RFC 6455, on a part of `bytes`.
std::string by_definition(std::string bytes, size_t from, size_t size, uint32_t mask) {
  for (size_t i = 0; i < size; ++i)
    bytes[from + i] = static_cast<char>(bytes[from + i] ^ char(mask >> (8 * (i % 4))));
  return bytes;
}

TEST(Unmask, AgreesWithTheDefinitionAtEachWidthAlignmentAndSizeAndTouchesNothingElse) {
  constexpr uint32_t kMask = 0x01F27384;
  std::string bytes(400, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 37);
  for (const uint32_t width : {16U, 32U, 64U}) {
    if (!unmask_supported(width)) continue;
    for (size_t from = 0; from < 65; ++from) {
      for (size_t size = 0; size < 200; ++size) {
        std::string got = bytes;
        unmask_with(width, std::span(got).subspan(from, size), kMask);
        ASSERT_EQ(got, by_definition(bytes, from, size, kMask)) << width << ' ' << from << ' ' << size;
      }
    }
  }
}

TEST(Unmask, IsItsOwnInverse) {
  std::string bytes = "a payload of no particular length, but longer than one vector of 64 bytes";
  const std::string before = bytes;
  unmask(bytes, 0xDEADBEEF);
  EXPECT_NE(bytes, before);
  unmask(bytes, 0xDEADBEEF);
  EXPECT_EQ(bytes, before);
}

TEST(Unmask, DoesNotClaimAWidthThatDoesNotExist) {
  EXPECT_TRUE(unmask_supported(16));
  EXPECT_FALSE(unmask_supported(8));
  EXPECT_FALSE(unmask_supported(128));
}

}  // namespace
}  // namespace taut::wire
