#include "wire/token_request.h"

#include <gtest/gtest.h>

namespace taut::wire {
namespace {

TEST(TokenRequest, ReadsEveryField) {
  const auto r = read_token_request(
      R"({"role":"agent","id":"a1","site":"demo","name":"Ann","groups":["sales","support"],"capacity":3,"ttl_s":60,"open":false})");
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->role, Role::agent);
  EXPECT_EQ(r->id, "a1");
  EXPECT_EQ(r->site, "demo");
  EXPECT_EQ(r->name, "Ann");
  EXPECT_EQ(r->groups, (std::vector<std::string>{"sales", "support"}));
  EXPECT_EQ(r->capacity, 3U);
  EXPECT_EQ(r->ttl_s, 60U);
  EXPECT_FALSE(r->open);
}

TEST(TokenRequest, NamesTheFieldThatIsWrong) {
  const auto error = [](std::string_view json) {
    const auto r = read_token_request(json);
    return r ? std::string("accepted") : r.error().message;
  };
  EXPECT_NE(error("[]").find("object"), std::string::npos);
  EXPECT_NE(error(R"({"id":"a"})").find("role: missing"), std::string::npos);
  EXPECT_NE(error(R"({"role":"agent"})").find("id: missing"), std::string::npos);
  EXPECT_NE(error(R"({"role":"king","id":"a"})").find("role"), std::string::npos);
  EXPECT_NE(error(R"({"role":"agent","id":"a b"})").find("id"), std::string::npos);
  EXPECT_NE(error(R"({"role":"agent","id":"a","ttl_s":0})").find("ttl_s"), std::string::npos);
  EXPECT_NE(error(R"({"role":"agent","id":"a","groups":["x",1]})").find("groups"), std::string::npos);
  EXPECT_NE(error(R"({"role":"agent","id":"a","colour":"red"})").find("colour"), std::string::npos);
}

}  // namespace
}  // namespace taut::wire
