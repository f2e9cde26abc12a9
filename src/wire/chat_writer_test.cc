#include "wire/chat_writer.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>
#include <string>

namespace taut::wire {
namespace {

struct Text {
  std::string json;
  std::string rest;
};

/// Writes into exactly max_size bytes.
template <class M>
Text text_of(const M& m) {
  std::string out(max_size(m), '\0');
  const Written written = write(out, m);
  EXPECT_LE(written.size, out.size());
  out.resize(written.size);
  return {out, out.substr(written.rest_offset)};
}

template <class M>
std::string json_of(const M& m) {
  return text_of(m).json;
}

constexpr Party kVisitor = {.kind = PartyKind::visitor, .id = "v1", .name = "A \"B\""};

TEST(ChatWriter, WritesWelcome) {
  EXPECT_EQ(
      json_of(Welcome{.id = "v1", .role = Role::visitor, .server_time = 1'700'000'000'000}),
      R"({"type":"welcome","id":"v1","role":"visitor","mode":"none","ping_ms":25000,"max_text_bytes":16384,)"
      R"("max_inflight":1024,"server_time":1700000000000})");
}

TEST(ChatWriter, WritesOpened) {
  Opened m{.ref = 1, .conversation = "c1", .state = ConversationState::queued, .position = 2};
  EXPECT_EQ(
      json_of(m),
      R"({"type":"opened","conversation":"c1","ref":1,"epoch":1,"seq":1,"state":"queued","position":2})");
  m.position = 0;
  m.has_eta = true;
  EXPECT_EQ(json_of(m),
            R"({"type":"opened","conversation":"c1","ref":1,"epoch":1,"seq":1,"state":"queued","eta_ms":0})");
  m.has_eta = false;
  m.closed = true;
  m.opens_at = 7;
  EXPECT_EQ(
      json_of(m),
      R"({"type":"opened","conversation":"c1","ref":1,"epoch":1,"seq":1,"state":"queued","open":false,"opens_at":7})");
}

TEST(ChatWriter, WritesAck) {
  Ack m{.ref = 4'294'967'295,
        .conversation = "c1",
        .client_msg_id = "m1",
        .epoch = 1,
        .seq = kIntegerMax,
        .ts = 5};
  EXPECT_EQ(json_of(m),
            R"({"type":"ack","conversation":"c1","ref":4294967295,"client_msg_id":"m1","epoch":1,)"
            R"("seq":9007199254740991,"ts":5,"level":"accepted"})");
  m.dup = true;
  m.level = AckLevel::durable;
  EXPECT_TRUE(json_of(m).ends_with(R"("level":"durable","dup":true})"));
}

TEST(ChatWriter, WritesACleanTextAsTheScanWould) {
  Message m{.conversation = "c", .client_msg_id = "m", .text = "no byte \xC3\xA9 to escape"};
  const std::string scanned = json_of(m);
  m.text_clean = true;
  EXPECT_EQ(json_of(m), scanned);
}

TEST(ChatWriter, WritesMessage) {
  const Message m{.conversation = "c1",
                  .epoch = 1,
                  .seq = 2,
                  .from = kVisitor,
                  .client_msg_id = "m1",
                  .text = "a\nb",
                  .ts = 3};
  EXPECT_EQ(json_of(m),
            R"({"type":"message","conversation":"c1","epoch":1,"seq":2,)"
            R"("from":{"kind":"visitor","id":"v1","name":"A \"B\""},"client_msg_id":"m1","kind":"text",)"
            R"("text":"a\nb","ts":3})");
}

TEST(ChatWriter, WritesEvent) {
  Event m{.conversation = "c1", .epoch = 1, .seq = 2, .event = EventKind::closed, .owner_epoch = 4, .ts = 3};
  EXPECT_EQ(
      json_of(m),
      R"({"type":"event","conversation":"c1","epoch":1,"seq":2,"event":"closed","owner_epoch":4,"ts":3})");
  m.agent = "a1";
  m.group = "g";
  m.reason = "done";
  EXPECT_EQ(json_of(m),
            R"({"type":"event","conversation":"c1","epoch":1,"seq":2,"event":"closed","agent":"a1",)"
            R"("group":"g","reason":"done","owner_epoch":4,"ts":3})");
}

TEST(ChatWriter, WritesARatingWithItsText) {
  Event m{.conversation = "c1", .epoch = 1, .seq = 9, .event = EventKind::rated, .owner_epoch = 4, .ts = 3};
  m.rating = 5;
  m.text = "very \"kind\"";
  EXPECT_EQ(json_of(m), R"({"type":"event","conversation":"c1","epoch":1,"seq":9,"event":"rated","rating":5,)"
                        R"("text":"very \"kind\"","owner_epoch":4,"ts":3})");
}

TEST(ChatWriter, WritesReplies) {
  EXPECT_EQ(json_of(Replies{.ref = 3}), R"({"type":"replies","ref":3,"replies":[]})");
  const std::array<Reply, 2> two{{{.name = "a", .text = "x\ny"}, {.name = "\"b\"", .text = "z"}}};
  EXPECT_EQ(
      json_of(Replies{.ref = 3, .replies = two}),
      R"({"type":"replies","ref":3,"replies":[{"name":"a","text":"x\ny"},{"name":"\"b\"","text":"z"}]})");
}

TEST(ChatWriter, WritesAssignedWithRawAttributes) {
  Assigned m{.conversation = "c1",
             .visitor_id = "v1",
             .group = "g",
             .owner_epoch = 1,
             .accept_ms = 30'000,
             .epoch = 1,
             .seq = 2};
  EXPECT_EQ(json_of(m),
            R"({"type":"assigned","conversation":"c1","visitor":{"id":"v1"},"group":"g","owner_epoch":1,)"
            R"("accept_ms":30000,"epoch":1,"seq":2})");
  m.subject = "a \"b\"";
  EXPECT_NE(json_of(m).find(R"(},"group":"g","subject":"a \"b\"","owner_epoch":1,)"), std::string::npos)
      << json_of(m);
  m.visitor_name = "N";
  m.visitor_attributes = R"({"a":1})";
  EXPECT_NE(json_of(m).find(R"("visitor":{"id":"v1","name":"N","attributes":{"a":1}},"group")"),
            std::string::npos);
}

TEST(ChatWriter, WritesTheSmallOnes) {
  EXPECT_EQ(json_of(Unassigned{.conversation = "c1", .owner_epoch = 2, .reason = UnassignReason::timeout}),
            R"({"type":"unassigned","conversation":"c1","owner_epoch":2,"reason":"timeout"})");
  EXPECT_EQ(json_of(Queue{.conversation = "c1", .position = 1}),
            R"({"type":"queue","conversation":"c1","position":1})");
  EXPECT_EQ(json_of(Queue{.conversation = "c1", .position = 1, .has_eta = true, .eta_ms = 9}),
            R"({"type":"queue","conversation":"c1","position":1,"eta_ms":9})");
  EXPECT_EQ(
      json_of(Typing{.conversation = "c1", .from = {.id = "v1", .name = {}}, .on = true, .ttl_ms = 5000}),
      R"({"type":"typing","conversation":"c1","from":{"kind":"visitor","id":"v1"},"on":true,"ttl_ms":5000})");
  EXPECT_EQ(
      json_of(Receipt{
          .conversation = "c1", .seq = 3, .level = ReceiptLevel::read, .by = {.id = "v1", .name = {}}}),
      R"({"type":"receipt","conversation":"c1","seq":3,"level":"read","by":{"kind":"visitor","id":"v1"}})");
  EXPECT_EQ(json_of(Resumed{.conversation = "c1", .epoch = 1, .seq = 0}),
            R"({"type":"resumed","conversation":"c1","epoch":1,"seq":0})");
  EXPECT_EQ(
      json_of(Gap{.conversation = "c1", .reason = GapReason::no_such_conversation}),
      R"({"type":"gap","conversation":"c1","epoch":0,"from":0,"to":0,"reason":"no_such_conversation"})");
  EXPECT_EQ(json_of(Ok{.ref = 1}), R"({"type":"ok","ref":1})");
  EXPECT_EQ(json_of(Pong{.ref = 0}), R"({"type":"pong","ref":0})");
  EXPECT_EQ(json_of(Bye{.code = CloseCode::draining, .reason = "restart", .retry_after_ms = 7}),
            R"({"type":"bye","code":4200,"reason":"restart","retry_after_ms":7})");
}

TEST(ChatWriter, WritesErrorsWithAndWithoutRefAndConversation) {
  ErrorMessage m{.conversation = {}, .code = ErrorCode::bad_json, .message = "not JSON"};
  EXPECT_EQ(json_of(m), R"({"type":"error","code":"bad_json","message":"not JSON","retryable":false})");
  m.has_ref = true;
  m.conversation = "c1";
  m.retryable = true;
  m.retry_after_ms = 20;
  EXPECT_EQ(json_of(m),
            R"({"type":"error","conversation":"c1","code":"bad_json","ref":0,"message":"not JSON",)"
            R"("retryable":true,"retry_after_ms":20})");
}

TEST(ChatWriter, WritesAHistoryAroundItems) {
  const std::string item = json_of(Event{.conversation = "c1", .agent = {}, .group = {}, .reason = {}});
  const std::string page = json_of(HistoryBegin{.ref = 1, .conversation = "c1"}) + item + "," + item +
                           json_of(HistoryEnd{.more = true});
  EXPECT_EQ(page, R"({"type":"history","conversation":"c1","ref":1,"items":[)" + item + "," + item +
                      R"(],"more":true})");
}

TEST(ChatWriter, WritesAListAroundEntries) {
  const std::string entry = json_of(
      ListEntry{.conversation = "c1", .group = "g", .visitor_id = "v1", .visitor_name = {}, .agent = "a1"});
  EXPECT_EQ(json_of(ListBegin{.ref = 1}) + entry + json_of(ListEnd{.cursor = "x"}),
            R"({"type":"list","ref":1,"conversations":[{"conversation":"c1","group":"g","state":"queued",)"
            R"("visitor":{"id":"v1"},"agent":"a1","owner_epoch":0,"epoch":0,"seq":0}],"cursor":"x"})");
  EXPECT_EQ(json_of(ListEnd{.cursor = {}}), "]}");
}

TEST(ChatWriter, SaysWhereTheFieldsBehindTypeAndConversationBegin) {
  EXPECT_EQ(text_of(Resumed{.conversation = "c1", .epoch = 1, .seq = 2}).rest, R"("epoch":1,"seq":2})");
  EXPECT_EQ(text_of(Ok{.ref = 9}).rest, R"("ref":9})");
  EXPECT_TRUE(text_of(HistoryBegin{.ref = 1, .conversation = "c1"}).rest.starts_with("\"ref\":1"));
  EXPECT_TRUE(text_of(ErrorMessage{.conversation = "c1", .message = {}}).rest.starts_with("\"code\":"));
}

TEST(ChatWriter, WritesTextsThatAParserReadsBackUnchanged) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  simdjson::dom::parser parser;
  for (int round = 0; round < 2'000; ++round) {
    std::string text(random() % 300, '\0');
    for (char& c : text) c = static_cast<char>(random() % (random() % 8 == 0 ? 0x20 : 0x80));
    text += "\xE2\x82\xAC";
    const Message m{.conversation = "c1",
                    .epoch = random() >> 11,
                    .seq = random() >> 11,
                    .from = {.id = "v", .name = text},
                    .client_msg_id = "m",
                    .text = text,
                    .ts = 0};
    const std::string json = json_of(m);
    const simdjson::dom::element root = parser.parse(json);
    ASSERT_EQ(std::string_view(root["text"]), text);
    ASSERT_EQ(std::string_view(root["from"]["name"]), text);
    ASSERT_EQ(uint64_t(root["seq"]), m.seq);
  }
}

TEST(ChatWriter, SizesStringsExactly) {
  const Message clean{.conversation = "c", .from = {.id = "v", .name = {}}, .client_msg_id = "m", .text = {}};
  Message full = clean;
  const std::string text = std::string(100, 'x') + "\"\n" + std::string(1, '\1');
  full.text = text;
  EXPECT_EQ(max_size(full) - max_size(clean), 100U + 2 + 2 + 6);
}

TEST(ChatWriterDeath, EndsTheProcessRatherThanLeaveItsSpan) {
  const Message m{
      .conversation = "c", .from = {.id = "v", .name = {}}, .client_msg_id = "m", .text = "some text"};
  std::string out(json_of(m).size(), '\0');
  EXPECT_EQ(write(out, m).size, out.size());
  for (size_t size = 0; size < out.size(); size += 7) {
    EXPECT_DEATH(write(std::span(out).first(size), m), "assertion failed") << size;
  }
}

TEST(ChatWriter, FindsTheRestOfAnObjectThatItWroteEarlier) {
  const Message message{.conversation = "c1", .from = kVisitor, .client_msg_id = "m1"};
  std::string out(max_size(message), '\0');
  const Written written = write(out, message);
  const std::string_view json(out.data(), written.size);
  EXPECT_EQ(rest_offset_of(json, ServerType::message, "c1"), written.rest_offset);
  EXPECT_EQ(rest_offset_of(json, ServerType::event, "c1"), 0U);
  EXPECT_EQ(rest_offset_of(json, ServerType::message, "c2"), 0U);
  EXPECT_EQ(rest_offset_of(json.substr(0, written.rest_offset - 1), ServerType::message, "c1"), 0U);
}

}  // namespace
}  // namespace taut::wire
