#include "load/stamp.h"

#include <gtest/gtest.h>

#include "load/options.h"

namespace taut::load {
namespace {

std::string_view view(const StampBytes& bytes) {
  return {bytes.data(), bytes.size()};
}

TEST(Stamp, ReadsBackWhatWasWritten) {
  for (const Stamp stamp :
       {Stamp{}, Stamp{0xFFFF, 0xFFFF'FFFF, INT64_MAX}, Stamp{7, 123'456, 1'700'000'000'123'456'789}}) {
    EXPECT_EQ(read_stamp(view(write_stamp(stamp))), stamp);
  }
}

TEST(Stamp, RefusesEverySingleChangedByte) {
  const StampBytes good = write_stamp({3, 99, 123'456'789});
  for (size_t i = 0; i < good.size(); ++i) {
    StampBytes bad = good;
    bad[i] = bad[i] == '0' ? '1' : '0';
    EXPECT_EQ(read_stamp(view(bad)), std::nullopt) << i;
  }
}

TEST(Stamp, RefusesAShortenedOne) {
  const StampBytes good = write_stamp({3, 99, 1});
  EXPECT_EQ(read_stamp(view(good).substr(0, kStampBytes - 1)), std::nullopt);
  EXPECT_EQ(read_stamp(""), std::nullopt);
}

TEST(Stamp, NeedsNoEscapeInJson) {
  for (const char c : blank_text(kTextBytesMin)) {
    EXPECT_TRUE(c >= ' ' && c < 0x7F && c != '"' && c != '\\') << c;
  }
}

TEST(StampFinder, FindsTheMarkerAgainAfterItMoved) {
  StampFinder finder;
  const std::string stamp(view(write_stamp({1, 2, 3})));
  EXPECT_EQ(finder.find(R"({"seq":9,"text":")" + stamp), 17U);
  EXPECT_EQ(finder.find(R"({"seq":9,"text":")" + stamp), 17U);
  EXPECT_EQ(finder.find(R"({"seq":10,"text":")" + stamp), 18U);
  EXPECT_EQ(finder.find(R"({"type":"ack"})"), std::string_view::npos);
  EXPECT_EQ(finder.find(""), std::string_view::npos);
  EXPECT_EQ(finder.find(R"({"seq":10,"text":")" + stamp), 18U);
}

}  // namespace
}  // namespace taut::load
