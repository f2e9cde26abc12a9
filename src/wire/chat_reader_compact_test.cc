// The reader on bodies of the compact carrier (of wire/chat_reader.h).
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "wire/chat_reader.h"
#include "wire/client_message_text.h"

namespace taut::wire {
namespace {

class CompactReaderTest : public testing::Test {
 protected:
  ReadStatus read(std::string_view body) {
    frame_.assign(body.size() + kReadablePadding, '\x5A');
    std::copy(body.begin(), body.end(), frame_.begin());
    return reader_.read_compact(std::span(frame_).first(body.size()));
  }
  /// The message as the JSON frame that would say the same.
  std::string good(std::string_view body) {
    EXPECT_EQ(read(body), ReadStatus::message) << body << ": " << reader_.error().message;
    return to_text(reader_.message());
  }
  /// REQUIRES: the body is refused.
  const ReadError& bad(std::string_view body) {
    EXPECT_EQ(read(body), ReadStatus::error) << body;
    return reader_.error();
  }
  void expect_bad_field(std::string_view body, std::string_view field) {
    const ReadError& error = bad(body);
    EXPECT_EQ(error.code, ErrorCode::bad_field) << body;
    EXPECT_TRUE(error.message.starts_with(std::string(field) + " ")) << body << ": " << error.message;
  }

  ChatReader reader_;
  std::vector<char> frame_;
};

TEST_F(CompactReaderTest, SaysTheSameAsJson) {
  const std::vector<std::pair<std::string, std::string>> pairs = {
      {R"(1::{"version":1,"role":"visitor","site":"demo","token":"t","device":"d","resume":[{"conversation":"c1","epoch":1,"seq":10}]})",
       R"({"type":"hello","version":1,"role":"visitor","site":"demo","token":"t","device":"d","resume":[{"conversation":"c1","epoch":1,"seq":10}]})"},
      {R"(2::{"ref":1,"group":"sales","attributes":{"n":[1,2]}})",
       R"({"type":"open","ref":1,"group":"sales","attributes":{"n":[1,2]}})"},
      {R"(2:c9:{"ref":1})", R"({"type":"open","ref":1,"conversation":"c9"})"},
      {R"(4:c1:{"on":true})", R"({"type":"typing","conversation":"c1","on":true})"},
      {R"(6:c1:{"seq":3})", R"({"type":"read","conversation":"c1","seq":3})"},
      {R"(7:c1:{"ref":2,"limit":9})", R"({"type":"history","ref":2,"conversation":"c1","limit":9})"},
      {R"(8::{"ref":3,"status":"online","capacity":5})",
       R"({"type":"presence","ref":3,"status":"online","capacity":5})"},
      {R"(12:c1:{"ref":4,"to":{"agent":"a"}})",
       R"({"type":"transfer","ref":4,"conversation":"c1","to":{"agent":"a"}})"},
      {R"(13:c1:{"ref":5,"reason":"d\u00e9j\u00e0"})",
       R"({"type":"close","ref":5,"conversation":"c1","reason":"déjà"})"},
      {R"(14::{"ref":6,"scope":"all"})", R"({"type":"list","ref":6,"scope":"all"})"},
      {R"(15::{"ref":7})", R"({"type":"ping","ref":7})"},
      {R"(16:c1:{"ref":8,"rating":5})", R"({"type":"rate","ref":8,"conversation":"c1","rating":5})"}};
  for (const auto& [compact, json] : pairs) {
    std::string frame = json + std::string(kReadablePadding, '\0');
    const std::string said = good(compact);
    ASSERT_EQ(reader_.read(std::span(frame).first(json.size())), ReadStatus::message) << json;
    EXPECT_EQ(said, to_text(reader_.message()));
  }
}

TEST_F(CompactReaderTest, ReadsASendAsItStands) {
  good("3:c1:m1 7 note\ntwo\nlines, \"quoted\" \\u0041");
  const ClientMessage& send = reader_.message();
  EXPECT_EQ(send.type, ClientType::send);
  EXPECT_EQ(send.conversation, "c1");
  EXPECT_EQ(send.client_msg_id, "m1");
  EXPECT_EQ(send.ref, 7U);
  EXPECT_EQ(send.kind, ItemKind::note);
  EXPECT_EQ(send.text, "two\nlines, \"quoted\" \\u0041");
  EXPECT_FALSE(send.text_clean);
  good("3:c1:m1\nplain é");
  EXPECT_EQ(reader_.message().ref, 0U);
  EXPECT_EQ(reader_.message().kind, ItemKind::text);
  EXPECT_TRUE(reader_.message().text_clean);
  good("3:c1:m1\n");
  EXPECT_EQ(reader_.message().text, "");
}

TEST_F(CompactReaderTest, KnowsEveryWayInWhichATextIsNotClean) {
  for (const char* text : {"\"", "\\", "\n", "\x01", "\x1F", "0123456789abcdef0123456789abcdef\t"}) {
    good("3:c1:m1\n" + std::string(text));
    EXPECT_FALSE(reader_.message().text_clean);
  }
  good("3:c1:m1\n\x7F");
  EXPECT_TRUE(reader_.message().text_clean);
}

TEST_F(CompactReaderTest, TheHeadIsRefusedInWords) {
  for (const char* body : {"", "15", "15:{}", "just text"}) EXPECT_EQ(bad(body).code, ErrorCode::bad_field);
  for (const char* body : {"0::{}", "19::{}", "32::{}", "x::{}", "015::{}", "4294967311::{}"})
    EXPECT_EQ(bad(body).code, ErrorCode::unknown_type) << body;
  const ReadError& error = bad(R"(99:c1:{"ref":5})");
  EXPECT_TRUE(error.has_ref);
  EXPECT_EQ(error.ref, 5U);
  EXPECT_EQ(error.conversation, "c1");
  expect_bad_field(R"(7::{"ref":1})", "conversation");
  expect_bad_field(R"(7:a b:{"ref":1})", "conversation");
  expect_bad_field("3::m1\nx", "conversation");
  EXPECT_EQ(reader_.error().conversation, "");
}

TEST_F(CompactReaderTest, TypeAndConversationInThePayloadAreIgnored) {
  good(R"(15:c1:{"type":3,"conversation":"c2","ref":7,"type":"send"})");
  EXPECT_EQ(reader_.message().type, ClientType::ping);
  good(R"(4:c1:{"on":true,"conversation":"c2"})");
  EXPECT_EQ(reader_.message().conversation, "c1");
  expect_bad_field(R"(15:c1:{"conversation":"c2"})", "ref");
  EXPECT_EQ(reader_.error().conversation, "c1");
  expect_bad_field(R"(15::{"ref":1,"ref":2})", "ref");
}

TEST_F(CompactReaderTest, ThePayloadIsRefusedAsJsonIs) {
  EXPECT_EQ(bad("15::").code, ErrorCode::bad_json);
  EXPECT_EQ(bad("15::{").code, ErrorCode::bad_json);
  EXPECT_EQ(bad("15::[]").code, ErrorCode::bad_json);
  EXPECT_EQ(bad("99::{").code, ErrorCode::bad_json);
  expect_bad_field("15::{}", "ref");
  expect_bad_field(R"(15::{"ref":-1})", "ref");
  expect_bad_field(R"(8::{"ref":1,"status":"asleep"})", "status");
  EXPECT_EQ(bad(R"(13:c1:{"ref":1,"reason":"\ud83d"})").code, ErrorCode::bad_utf8);
  EXPECT_TRUE(reader_.error().has_ref);
}

TEST_F(CompactReaderTest, BrokenUtf8AndU0000AreErrorsAboutTheMessage) {
  for (const std::string& text :
       {std::string("\xFF"), std::string("a\xC3"), std::string("\xED\xA0\x80"), std::string("a\0b", 3)}) {
    const ReadError& error = bad("3:c1:m1 9\n" + text);
    EXPECT_EQ(error.code, ErrorCode::bad_utf8);
    EXPECT_TRUE(error.has_ref);
    EXPECT_EQ(error.ref, 9U);
    EXPECT_EQ(error.conversation, "c1");
  }
  EXPECT_EQ(bad("13:c1:{\"ref\":1,\"reason\":\"\xFF\"}").code, ErrorCode::bad_utf8);
}

TEST_F(CompactReaderTest, WhatIsWrongInASendIsNamed) {
  expect_bad_field("3:c1:m1 7", "text");
  EXPECT_EQ(reader_.error().ref, 7U);
  expect_bad_field("3:c1:m1 x\nhi", "ref");
  EXPECT_FALSE(reader_.error().has_ref);
  expect_bad_field("3:c1:m1 4294967296\nhi", "ref");
  expect_bad_field("3:c1:\nhi", "client_msg_id");
  EXPECT_TRUE(reader_.error().has_ref);
  expect_bad_field("3:c1:" + std::string(65, 'm') + "\nhi", "client_msg_id");
  expect_bad_field("3:c1:m1 7 shout\nhi", "kind");
  expect_bad_field("3:c1:m1 7 text more\nhi", "kind");
}

TEST_F(CompactReaderTest, ATextIsBoundedAsInJson) {
  good("3:c1:m1\n" + std::string(kTextBytesMax, 'x'));
  EXPECT_EQ(bad("3:c1:m1 8\n" + std::string(kTextBytesMax + 1, 'x')).code, ErrorCode::too_large);
  EXPECT_EQ(reader_.error().ref, 8U);
}

TEST_F(CompactReaderTest, AJsonFrameAfterACompactOneOwesItNothing) {
  good("3:c1:m1 7\nhi");
  std::string frame = R"({"type":"ping"})" + std::string(kReadablePadding, '\0');
  ASSERT_EQ(reader_.read(std::span(frame).first(frame.size() - kReadablePadding)), ReadStatus::error);
  EXPECT_FALSE(reader_.error().has_ref);
  EXPECT_EQ(reader_.error().conversation, "");
  bad("15::{}");
  EXPECT_FALSE(reader_.error().has_ref);
}

}  // namespace
}  // namespace taut::wire
