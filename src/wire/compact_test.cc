#include "wire/compact.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "wire/chat_writer.h"

namespace taut::wire {
namespace {

TEST(Compact, ABodyIsTypeConversationAndAllTheRest) {
  const auto body = parse_compact_body("35:c1:{\"a\":\"b:c\"}");
  ASSERT_TRUE(body);
  EXPECT_EQ(body->type, 35U);
  EXPECT_EQ(body->conversation, "c1");
  EXPECT_EQ(body->payload, "{\"a\":\"b:c\"}");
  EXPECT_EQ(parse_compact_body("15::")->payload, "");
  for (const char* none : {"", ":", "15", "15:c"}) EXPECT_FALSE(parse_compact_body(none)) << none;
}

TEST(Compact, ATypeThatIsNoNumberIsZero) {
  for (const char* body : {"::", "a::", "-1::", "01::", " 1::", "1 ::", "4294967296::"})
    EXPECT_EQ(parse_compact_body(body)->type, 0U) << body;
  EXPECT_EQ(parse_compact_body("4294967295::")->type, 4294967295U);
}

TEST(Compact, ASendMayLeaveOutRefAndKind) {
  const CompactSend bare = parse_compact_send("m1\nhello");
  EXPECT_EQ(bare.client_msg_id, "m1");
  EXPECT_EQ(bare.ref, 0U);
  EXPECT_EQ(bare.kind, "text");
  EXPECT_EQ(bare.text, "hello");
  const CompactSend full = parse_compact_send("m1 7 note\ntwo\nlines 1 x");
  EXPECT_EQ(full.client_msg_id, "m1");
  EXPECT_EQ(full.ref, 7U);
  EXPECT_EQ(full.kind, "note");
  EXPECT_EQ(full.text, "two\nlines 1 x");
}

TEST(Compact, WhatIsWrongInASendIsNotGuessed) {
  EXPECT_FALSE(parse_compact_send("m1 7").text);
  EXPECT_FALSE(parse_compact_send("m1 \nx").ref);
  EXPECT_FALSE(parse_compact_send("m1 -7\nx").ref);
  EXPECT_FALSE(parse_compact_send("m1  7\nx").ref);
  EXPECT_FALSE(parse_compact_send("m1 07\nx").ref);
  EXPECT_EQ(parse_compact_send("m1 7 \nx").kind, "");
  EXPECT_EQ(parse_compact_send("m1 7 text \nx").kind, "text ");
  EXPECT_EQ(parse_compact_send("\nx").client_msg_id, "");
}

/// The object with its head in the place of its beginning, and the comma.
template <class M>
std::string as_netstring(const M& message, std::string_view conversation) {
  std::string json(max_size(message), '\0');
  const Written written = write(json, message);
  json.resize(written.size);
  EXPECT_TRUE(json.starts_with("{\"type\":\"" + std::string(name_of(written.type)) + "\",")) << json;
  std::array<char, kCompactHeadMax> head;
  const size_t head_bytes =
      write_compact_head(head, written.type, conversation, written.size - written.rest_offset);
  EXPECT_LE(head_bytes, written.rest_offset);
  return std::string(head.data(), head_bytes) + json.substr(written.rest_offset) + ",";
}

TEST(Compact, TheHeadStandsForTheBeginningOfTheObject) {
  EXPECT_EQ(as_netstring(Ok{.ref = 7}, ""), "13:46::{\"ref\":7},");
  EXPECT_EQ(as_netstring(Resumed{.conversation = "c1", .epoch = 1, .seq = 22}, "c1"),
            "26:44:c1:{\"epoch\":1,\"seq\":22},");
}

TEST(Compact, EveryObjectKnowsItsTypeAndIsLongerThanItsHead) {
  const std::string c(kIdBytesMax, 'c');
  as_netstring(Welcome{}, "");
  as_netstring(Opened{.conversation = c}, c);
  as_netstring(Ack{.conversation = c}, c);
  as_netstring(Message{.conversation = c, .text = std::string(100'000, 'x')}, c);
  as_netstring(Event{.conversation = c}, c);
  as_netstring(Assigned{.conversation = c}, c);
  as_netstring(Unassigned{.conversation = c}, c);
  as_netstring(Queue{.conversation = c}, c);
  as_netstring(Typing{.conversation = c}, c);
  as_netstring(Receipt{.conversation = c}, c);
  as_netstring(HistoryBegin{.conversation = c}, c);
  as_netstring(ListBegin{}, "");
  as_netstring(Resumed{.conversation = c}, c);
  as_netstring(Gap{.conversation = c}, c);
  as_netstring(Ok{}, "");
  as_netstring(Pong{}, "");
  as_netstring(ErrorMessage{}, "");
  as_netstring(ErrorMessage{.conversation = c}, c);
  as_netstring(Bye{}, "");
}

TEST(Compact, WhatTheServerSaysAsItStandsIsWhole) {
  std::string ping(kCompactPing);
  EXPECT_EQ(next_netstring(ping, 100).consumed, ping.size());
  EXPECT_EQ(parse_compact_body(ping.substr(3))->type, static_cast<uint32_t>(ClientType::ping));
  EXPECT_EQ(kCompactTurnedAway,
            as_netstring(Bye{.code = CloseCode::overloaded, .reason = "too many connections now"}, ""));
}

}  // namespace
}  // namespace taut::wire
