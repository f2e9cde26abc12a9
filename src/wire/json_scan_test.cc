#include "wire/json_scan.h"

#include <gtest/gtest.h>

#include <string>

namespace taut::wire {
namespace {

/// The text after repair, with a '!' in front when something was broken.
std::string repaired(std::string text) {
  const Escapes escapes = repair_escapes(text);
  EXPECT_EQ(escapes == Escapes::none, !text.contains('\\'));
  return (escapes == Escapes::broken ? "!" : "") + text;
}

TEST(RepairEscapes, LeavesTextWithoutBrokenEscapesAlone) {
  for (const std::string text : {R"()", R"("plain")", R"("\n\"\\u0000")", R"("\u00e9")", R"("\ud83d\ude00")",
                                 R"("\uD83D\uDE00x")", R"("\\ud83d")", R"("\ud7ff\ue000")", R"("\u0001")"}) {
    EXPECT_EQ(repaired(text), text);
  }
}

TEST(RepairEscapes, ReplacesLoneSurrogatesAndZero) {
  EXPECT_EQ(repaired(R"("\ud83d")"), R"(!"\ufffd")");
  EXPECT_EQ(repaired(R"("\ude00")"), R"(!"\ufffd")");
  EXPECT_EQ(repaired(R"("\u0000")"), R"(!"\ufffd")");
  EXPECT_EQ(repaired(R"("\ud83dx\ude00")"), R"(!"\ufffdx\ufffd")");
  EXPECT_EQ(repaired(R"("\ude00\ud83d")"), R"(!"\ufffd\ufffd")");
  EXPECT_EQ(repaired(R"("\ud83d\ud83d\ude00")"), R"(!"\ufffd\ud83d\ude00")");
  EXPECT_EQ(repaired(R"("\\\ud83d")"), R"(!"\\\ufffd")");
}

TEST(RepairEscapes, DoesNotReadBehindTheEnd) {
  const std::string text = R"(\ud83d\ude00)";
  for (size_t size = 0; size < text.size(); ++size) {
    std::string cut = text.substr(0, size);
    cut.shrink_to_fit();
    EXPECT_EQ(repair_escapes(cut) == Escapes::broken, size >= 6) << size;
  }
}

TEST(RawMember, FindsEachKindOfValue) {
  const std::string_view json =
      R"( { "a" : 1 ,"b":"x\"},{" , "c": {"d":[1,{"e":"]"}], "f" : {}} ,"g":[ ],"h":true,"i":-1.5e3 } )";
  const std::string_view values[] = {"1",   R"("x\"},{")", R"({"d":[1,{"e":"]"}], "f" : {}})",
                                     "[ ]", "true",        "-1.5e3"};
  for (uint32_t n = 0; n < std::size(values); ++n) EXPECT_EQ(raw_member(json, n), values[n]);
}

TEST(RawMember, IsNotMisledByEscapesInKeys) {
  EXPECT_EQ(raw_member(R"({"\\":1,"\"":{"x":2}})", 1), R"({"x":2})");
}

}  // namespace
}  // namespace taut::wire
