#include "wire/netstring.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/netstring_feed.h"

namespace taut::wire {
namespace {

constexpr uint32_t kNetstringMax = 1'000;

std::string netstring(std::string_view body) {
  std::string out(netstring_size(body.size()), '\0');
  EXPECT_EQ(write_netstring(out, body), out.size());
  return out;
}

NetstringFeed feed_whole(std::string_view bytes) {
  NetstringFeed feed(kNetstringMax);
  feed.feed(bytes);
  return feed;
}

/// The code with which these bytes are refused, `none` if they are not.
CloseCode netstring_refusal(std::string_view bytes) {
  return feed_whole(bytes).close_code();
}

const std::vector<std::string> kBodies{
    "15::{}", "", ",", "7:,", std::string(kNetstringMax, 'x'), std::string(9, '\0'), "12345678901234567890"};

std::string stream_of(const std::vector<std::string>& bodies) {
  std::string stream;
  for (const std::string& body : bodies) stream += netstring(body);
  return stream;
}

TEST(Netstring, IsWrittenAsDecimalLengthColonBodyComma) {
  EXPECT_EQ(netstring("hello world!"), "12:hello world!,");
  EXPECT_EQ(netstring(""), "0:,");
}

TEST(Netstring, BodiesComeOutAsTheyWentIn) {
  EXPECT_EQ(feed_whole(stream_of(kBodies)).bodies(), kBodies);
}

TEST(Netstring, TheBodyIsFoundInPlaceAndTheRestLeft) {
  std::string bytes = "5:hello,3:";
  const NetstringOutcome outcome = next_netstring(bytes, kNetstringMax);
  EXPECT_EQ(outcome.kind, NetstringOutcome::Kind::body);
  EXPECT_EQ(outcome.body.data(), bytes.data() + 2);
  EXPECT_EQ(outcome.body.size(), 5U);
  EXPECT_EQ(outcome.consumed, 8U);
}

TEST(Netstring, GivesTheSameWhereverTheStreamIsSplit) {
  const std::string bytes = stream_of(kBodies);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    NetstringFeed feed(kNetstringMax);
    feed.feed(bytes.substr(0, cut));
    feed.feed(bytes.substr(cut));
    ASSERT_EQ(feed.bodies(), kBodies) << "cut at " << cut;
    ASSERT_EQ(feed.kept(), "");
  }
}

TEST(Netstring, GivesTheSameByteByByte) {
  NetstringFeed feed(kNetstringMax);
  for (const char byte : stream_of(kBodies)) feed.feed({&byte, 1});
  EXPECT_EQ(feed.bodies(), kBodies);
}

TEST(Netstring, LengthsThatAreNoneAreRefusedWith1002) {
  for (const char* bytes : {":,", "x", "-1:", "+1:", " 1:a,", "1 :a,", "01:a,", "00:,", "1a:", "0x1:a,",
                            "1;a,", "GET /v1/chat HTTP/1.1\r\n", "\n"}) {
    EXPECT_EQ(netstring_refusal(bytes), CloseCode::protocol) << bytes;
  }
}

TEST(Netstring, ABodyWithoutItsCommaIsRefusedWith1002) {
  EXPECT_EQ(netstring_refusal("5:hello"), CloseCode::none);
  EXPECT_EQ(netstring_refusal("5:hello\n"), CloseCode::protocol);
  EXPECT_EQ(netstring_refusal("4:hello,"), CloseCode::protocol);
}

TEST(Netstring, ALengthAboveTheLimitIsRefusedWith1009AsSoonAsItsDigitsSaySo) {
  EXPECT_EQ(netstring_refusal("1000:"), CloseCode::none);
  EXPECT_EQ(netstring_refusal("1001"), CloseCode::too_big);
  EXPECT_EQ(netstring_refusal("99999999999999999999999999:"), CloseCode::too_big);
}

TEST(Netstring, WhatCameBeforeABreachIsGiven) {
  const NetstringFeed feed = feed_whole("1:a,1:b,x");
  EXPECT_EQ(feed.bodies(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(feed.failed());
}

}  // namespace
}  // namespace taut::wire
