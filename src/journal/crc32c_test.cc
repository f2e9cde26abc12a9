#include "journal/crc32c.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace taut::journal {
namespace {

TEST(Crc32c, IsThatOfTheStandard) {  // RFC 3720, B.4
  EXPECT_EQ(crc32c("123456789"), 0xE306'9283U);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A91'36AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8'AB43U);
  EXPECT_EQ(crc32c(""), 0U);
}

TEST(Crc32c, IsTheSameByTableAtAnyLengthAndPlace) {
  std::mt19937 random(1);
  std::string bytes(300, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  for (size_t begin = 0; begin < 9; ++begin) {
    for (size_t size = 0; size <= bytes.size() - begin; ++size) {
      const std::string_view part = std::string_view(bytes).substr(begin, size);
      ASSERT_EQ(crc32c(part), crc32c_by_table(part)) << begin << " " << size;
    }
  }
}

TEST(Crc32c, GoesOnFromWhatStandsBefore) {
  const std::string_view bytes = "a journal is a sequence of records";
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(crc32c(bytes.substr(cut), crc32c(bytes.substr(0, cut))), crc32c(bytes)) << cut;
    EXPECT_EQ(crc32c_by_table(bytes.substr(cut), crc32c_by_table(bytes.substr(0, cut))), crc32c(bytes))
        << cut;
  }
}

}  // namespace
}  // namespace taut::journal
