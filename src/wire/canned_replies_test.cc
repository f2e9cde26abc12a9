#include "wire/canned_replies.h"

#include <gtest/gtest.h>

#include "wire/chat_reader.h"

namespace taut::wire {
namespace {

constexpr size_t kTextMax = 100;

std::string error_of(std::string_view json) {
  const auto read = read_canned_replies(json, kTextMax);
  return read ? "" : read.error().message;
}

TEST(CannedReplies, AreReadInTheirOrder) {
  const auto read = read_canned_replies(
      R"([{"name":"hours","text":"We are open\nfrom 9 to 5"},{"groups":["sales","support"],"text":"\u20ac","name":"Prei\u00dfe"}])",
      kTextMax);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(read->at(0).name, "hours");
  EXPECT_EQ(read->at(0).text, "We are open\nfrom 9 to 5");
  EXPECT_TRUE(read->at(0).groups.empty());
  EXPECT_EQ(read->at(1).name,
            "Prei\xC3\x9F"
            "e");
  EXPECT_EQ(read->at(1).groups, (std::vector<std::string>{"sales", "support"}));
  EXPECT_EQ(read_canned_replies("[]", kTextMax)->size(), 0U);
}

TEST(CannedReplies, AWrongEntryIsNamedWithItsField) {
  const std::string array = R"(must be a JSON array of {"name", "text", "groups"?})";
  for (const std::string_view json : {"", "{}", "[", R"([{"name":"a","text":"b"}] x)", "7"}) {
    EXPECT_EQ(error_of(json), array) << json;
  }
  EXPECT_EQ(error_of("[1]"), "entry 1: must be an object");
  EXPECT_EQ(error_of(R"([{"name":"a","text":"b"},{"text":"b"}])"), "entry 2: name: missing");
  EXPECT_EQ(error_of(R"([{"name":"a"}])"), "entry 1: text: missing");
  EXPECT_EQ(error_of(R"([{"name":"a","text":"b","text":"c"}])"), "entry 1: text: is there twice");
  EXPECT_EQ(error_of(R"([{"name":"a","text":"b"},{"name":"a","text":"c"}])"),
            R"(entry 2: name: "a" is there twice)");
}

TEST(CannedReplies, EachFieldHasItsLimits) {
  const auto wrong = [](std::string_view field) {
    return "entry 1: " + std::string(field) + ": unknown, of the wrong type or out of its limits";
  };
  EXPECT_EQ(error_of(R"([{"name":"a","text":"b","x":1}])"), wrong("x"));
  EXPECT_EQ(error_of(R"([{"name":"","text":"b"}])"), wrong("name"));
  EXPECT_EQ(error_of(R"([{"name":"a","text":7}])"), wrong("text"));
  EXPECT_EQ(error_of(R"([{"name":"a","text":"x\u0000y"}])"), wrong("text"));
  EXPECT_EQ(error_of(R"([{"name":"a","text":"b","groups":"sales"}])"), wrong("groups"));
  EXPECT_EQ(error_of(R"([{"name":"a","text":"b","groups":["no good"]}])"), wrong("groups"));
  const auto with = [](size_t name, size_t text) {
    return R"([{"name":")" + std::string(name, 'n') + R"(","text":")" + std::string(text, 't') + R"("}])";
  };
  EXPECT_EQ(error_of(with(kNameBytesMax, kTextMax)), "");
  EXPECT_EQ(error_of(with(kNameBytesMax + 1, 1)), wrong("name"));
  EXPECT_EQ(error_of(with(1, kTextMax + 1)), wrong("text"));
}

}  // namespace
}  // namespace taut::wire
