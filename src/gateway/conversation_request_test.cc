#include "gateway/conversation_request.h"

#include <gtest/gtest.h>

#include <string>

namespace taut::gateway {
namespace {

/// Every field has a value of its own, so that no two can be mixed up unseen.
ConversationRequest full_request() {
  return {.type = wire::ClientType::history,
          .kind = wire::ItemKind::note,
          .text_clean = true,
          .on = true,
          .has_cursor = true,
          .epoch = 11,
          .seq = 12,
          .before = 13,
          .limit = 14,
          .rating = 16,
          .seconds = 17,
          .from = {.kind = chat::PartyKind::agent,
                   .connection = Handle(1, 2, 3),
                   .endpoint = Handle(4, 5, 6),
                   .groups = 0x8000'0000'0000'0001,
                   .owner_epoch = 15,
                   .ref = 0xFFFF'FFFF,
                   .has_ref = false,
                   .other_connections = true,
                   .id = "the id",
                   .name = "the name"},
          .key = Handle(7, 8, 9),
          .conversation = "the conversation",
          .client_msg_id = "the client_msg_id",
          .text = "the text",
          .reason = "the reason",
          .to_agent = "the agent",
          .to_group = "the group"};
}

void expect_same(const ConversationRequest& a, const ConversationRequest& b) {
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.text_clean, b.text_clean);
  EXPECT_EQ(a.on, b.on);
  EXPECT_EQ(a.has_cursor, b.has_cursor);
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.seq, b.seq);
  EXPECT_EQ(a.before, b.before);
  EXPECT_EQ(a.limit, b.limit);
  EXPECT_EQ(a.rating, b.rating);
  EXPECT_EQ(a.seconds, b.seconds);
  EXPECT_EQ(a.from.kind, b.from.kind);
  EXPECT_EQ(a.from.connection, b.from.connection);
  EXPECT_EQ(a.from.endpoint, b.from.endpoint);
  EXPECT_EQ(a.from.groups, b.from.groups);
  EXPECT_EQ(a.from.owner_epoch, b.from.owner_epoch);
  EXPECT_EQ(a.from.ref, b.from.ref);
  EXPECT_EQ(a.from.has_ref, b.from.has_ref);
  EXPECT_EQ(a.from.other_connections, b.from.other_connections);
  EXPECT_EQ(a.from.id, b.from.id);
  EXPECT_EQ(a.from.name, b.from.name);
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.conversation, b.conversation);
  EXPECT_EQ(a.client_msg_id, b.client_msg_id);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.to_agent, b.to_agent);
  EXPECT_EQ(a.to_group, b.to_group);
}

void expect_round_trip(const ConversationRequest& request) {
  BufferPool pool({.base_bytes = 0});
  Block* block = pack(pool, request, {.started_ns = 21});
  ASSERT_NE(block, nullptr);
  expect_same(unpack(*block), request);
  EXPECT_EQ(trace_of(*block).started_ns, 21);
  pool.release(block);
  EXPECT_EQ(pool.metrics().blocks_outstanding(), 0U);
}

TEST(ConversationRequest, ComesOutOfItsBlockAsItWentIn) {
  expect_round_trip(full_request());
}

TEST(ConversationRequest, EmptyFieldsStayEmpty) {
  expect_round_trip({});
  ConversationRequest only_last{};
  only_last.reason = "r";
  expect_round_trip(only_last);
}

TEST(ConversationRequest, CarriesTheLongestTextWithAnyBytes) {
  std::string text(wire::kTextBytesMax, 'x');
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7);
  ConversationRequest request = full_request();
  request.text = text;
  expect_round_trip(request);
}

TEST(ConversationRequest, ItsViewsPointIntoTheBlockAndNotToTheSender) {
  BufferPool pool({.base_bytes = 0});
  std::string text = "before";
  ConversationRequest request = full_request();
  request.text = text;
  Block* block = pack(pool, request, {.started_ns = 21});
  ASSERT_NE(block, nullptr);
  text = "behind";
  EXPECT_EQ(unpack(*block).text, "before");
  pool.release(block);
}

TEST(ConversationRequest, WithoutMemoryThereIsNoBlock) {
  BufferPool pool({.base_bytes = 0, .bytes_max = 0});
  EXPECT_EQ(pack(pool, full_request(), {}), nullptr);
}

}  // namespace
}  // namespace taut::gateway
