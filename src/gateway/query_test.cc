#include "gateway/query.h"

#include <gtest/gtest.h>

namespace taut::gateway {
namespace {

std::string value_of(std::string_view text) {
  const Result<Query> query = Query::parse(text, {"q", "limit"});
  return query ? std::string(query->value("q")) : query.error().message;
}

TEST(Query, DecodesNamesAndValues) {
  EXPECT_EQ(value_of(""), "");
  EXPECT_EQ(value_of("q=a"), "a");
  EXPECT_EQ(value_of("limit=3&q=a%20b+c%26=%C3%BC"), "a b c&=ü");
  EXPECT_EQ(value_of("%71=a"), "a");
  EXPECT_EQ(value_of("q"), "");
  EXPECT_EQ(value_of("&&q=a&"), "a");
}

TEST(Query, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(value_of("q=%"), "the query is no percent-encoded UTF-8");
  EXPECT_EQ(value_of("q=%2"), "the query is no percent-encoded UTF-8");
  EXPECT_EQ(value_of("q=%zz"), "the query is no percent-encoded UTF-8");
  EXPECT_EQ(value_of("q=%00"), "the query is no percent-encoded UTF-8");
  EXPECT_EQ(value_of("q=%ff"), "the query is no percent-encoded UTF-8");
  EXPECT_EQ(value_of("p=1"), "the query has an unknown name: p");
  EXPECT_EQ(value_of("q=1&q=2"), "the query has q twice");
}

TEST(Query, NumbersStayInTheirRange) {
  const auto number = [](std::string_view text) {
    const Result<uint64_t> found = Query::parse(text, {"limit"})->number("limit", 50, 1, 200);
    return found ? std::to_string(*found) : found.error().message;
  };
  EXPECT_EQ(number(""), "50");
  EXPECT_EQ(number("limit=200"), "200");
  for (const auto* bad : {"limit=0", "limit=201", "limit=x", "limit=1x", "limit=-1"})
    EXPECT_EQ(number(bad), "limit: must be a number from 1 to 200") << bad;
}

}  // namespace
}  // namespace taut::gateway
