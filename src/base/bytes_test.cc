#include "base/bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

namespace taut {
namespace {

TEST(Bytes, LittleEndianPutsTheLeastSignificantByteFirstAtAnyAlignment) {
  std::array<char, 9> memory{};
  store_le(memory.data() + 1, uint64_t{0x0102030405060708});
  EXPECT_EQ(std::string(memory.data() + 1, 8), "\x08\x07\x06\x05\x04\x03\x02\x01");
  EXPECT_EQ(load_le<uint64_t>(memory.data() + 1), 0x0102030405060708u);
  EXPECT_EQ(load_le<uint16_t>(memory.data() + 1), 0x0708u);
}

TEST(Bytes, BigEndianPutsTheMostSignificantByteFirstAtAnyAlignment) {
  std::array<char, 5> memory{};
  store_be(memory.data() + 1, uint32_t{0x01020304});
  EXPECT_EQ(std::string(memory.data() + 1, 4), "\x01\x02\x03\x04");
  EXPECT_EQ(load_be<uint32_t>(memory.data() + 1), 0x01020304u);
  EXPECT_EQ(load_be<uint16_t>(memory.data() + 3), 0x0304u);
  EXPECT_EQ(load_be<uint8_t>(memory.data() + 2), 0x02u);
}

TEST(Bytes, WipeZeroesExactlyTheGivenBytes) {
  std::string text = "keep secret keep";
  secure_wipe(text.data() + 5, 6);
  EXPECT_EQ(text, std::string("keep \0\0\0\0\0\0 keep", 16));
  secure_wipe(nullptr, 0);
}

}  // namespace
}  // namespace taut
