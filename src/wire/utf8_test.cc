#include "wire/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace taut::wire {
namespace {

TEST(ValidateUtf8, TakesEveryLengthOfCharacter) {
  EXPECT_TRUE(validate_utf8(""));
  EXPECT_TRUE(validate_utf8(std::string_view("\0", 1)));
  EXPECT_TRUE(validate_utf8("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"));
  EXPECT_TRUE(validate_utf8("\xF4\x8F\xBF\xBF"));
}

TEST(ValidateUtf8, RefusesWhatIsBrokenWhereverItStands) {
  for (const std::string_view broken :
       {"\x80", "\xC3", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xE2\x82",
        "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    for (const size_t before : {0U, 1U, 15U, 16U, 63U, 64U, 100U}) {
      for (const size_t after : {0U, 1U, 64U}) {
        const std::string bytes = std::string(before, 'x').append(broken).append(after, 'x');
        EXPECT_FALSE(validate_utf8(bytes)) << testing::PrintToString(broken) << ' ' << before << ' ' << after;
      }
    }
  }
}

}  // namespace
}  // namespace taut::wire
