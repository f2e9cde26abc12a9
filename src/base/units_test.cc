#include "base/units.h"

#include <gtest/gtest.h>

namespace taut {
namespace {

TEST(Units, ReadEveryDuration) {
  EXPECT_EQ(parse_duration_ns("7ns").value(), 7);
  EXPECT_EQ(parse_duration_ns("20us").value(), 20'000);
  EXPECT_EQ(parse_duration_ns("300ms").value(), 300'000'000);
  EXPECT_EQ(parse_duration_ns("25s").value(), 25'000'000'000);
  EXPECT_EQ(parse_duration_ns("10m").value(), 600'000'000'000);
  EXPECT_EQ(parse_duration_ns("2h").value(), 7'200'000'000'000);
  EXPECT_EQ(parse_duration_ns("0").value(), 0);
}

TEST(Units, ReadEverySize) {
  EXPECT_EQ(parse_size_bytes("17").value(), 17u);
  EXPECT_EQ(parse_size_bytes("17B").value(), 17u);
  EXPECT_EQ(parse_size_bytes("2kB").value(), 2'000u);
  EXPECT_EQ(parse_size_bytes("2MB").value(), 2'000'000u);
  EXPECT_EQ(parse_size_bytes("2GB").value(), 2'000'000'000u);
  EXPECT_EQ(parse_size_bytes("16KiB").value(), 16'384u);
  EXPECT_EQ(parse_size_bytes("3MiB").value(), 3'145'728u);
  EXPECT_EQ(parse_size_bytes("1GiB").value(), 1'073'741'824u);
}

TEST(Units, RefuseEverythingElse) {
  for (const char* text : {"", "s", "-1s", "+1s", "1.5s", " 1s", "1 s", "1s ", "1S", "1", "1KiB", "1sec"}) {
    EXPECT_FALSE(parse_duration_ns(text)) << text;
  }
  for (const char* text : {"", "B", "-1", "0x10", "1.5MB", "1 KiB", "1kib", "1s", "1KB"}) {
    EXPECT_FALSE(parse_size_bytes(text)) << text;
  }
}

TEST(Units, RefuseWhatDoesNotFit) {
  EXPECT_EQ(parse_duration_ns("9223372036854775807ns").value(), 9'223'372'036'854'775'807);
  EXPECT_FALSE(parse_duration_ns("9223372036854775808ns"));
  EXPECT_FALSE(parse_duration_ns("9223372037s"));
  EXPECT_EQ(parse_size_bytes("18446744073709551615").value(), 18'446'744'073'709'551'615U);
  EXPECT_FALSE(parse_size_bytes("18446744073709551616"));
  EXPECT_FALSE(parse_size_bytes("18014398509481984KiB"));
}

TEST(Units, NameTheTextAndAnExampleInTheError) {
  EXPECT_EQ(parse_duration_ns("soon").error().message, "\"soon\" is not like 300ms, 25s or 10m");
}

}  // namespace
}  // namespace taut
