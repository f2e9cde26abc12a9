#include "gateway/frame.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "gateway/far_end.h"
#include "hub/hand_turned_shard.h"

namespace taut::gateway {
namespace {

class FrameTest : public testing::Test {
 protected:
  ~FrameTest() override {
    queue.clear(pool, home.back());
    EXPECT_EQ(home.outstanding(), 0U);
  }

  /// A message whose object is exactly so long.
  [[nodiscard]] wire::Message message_of(uint32_t json_bytes) {
    wire::Message message{.conversation = "c001-abc-1",
                          .epoch = 1,
                          .seq = 42,
                          .from = {.kind = wire::PartyKind::visitor, .id = "v", .name = ""},
                          .client_msg_id = "m",
                          .kind = wire::ItemKind::text,
                          .text = "",
                          .ts = 1};
    std::array<char, 1024> room{};
    const uint32_t empty = wire::write(room, message).size;
    text.assign(json_bytes - empty, 'x');
    message.text = text;
    return message;
  }

  /// What write_frame() puts into an output.
  template <class M>
  [[nodiscard]] std::string written(const M& message, Carrier carrier = Carrier::websocket) {
    EXPECT_TRUE(write_frame(pool, queue, carrier, message));
    std::array<iovec, 4> pieces;
    std::string bytes;
    const uint32_t count = queue.gather(pieces);
    for (uint32_t i = 0; i < count; ++i)
      bytes.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
    queue.clear(pool, home.back());
    return bytes;
  }

  /// A block as a carrier writes it.
  [[nodiscard]] static std::string put_together(const Block& frame, Carrier carrier = Carrier::websocket) {
    const FrameParts parts = frame_parts(frame, carrier);
    return std::string(parts.head.data(), parts.head_bytes).append(frame.data() + parts.offset, parts.bytes);
  }

  /// The one netstring in these bytes, as the JSON object that a WebSocket would carry.
  [[nodiscard]] static std::string object_of(std::string bytes) {
    const wire::NetstringOutcome outcome = wire::next_netstring(bytes, 1U << 20);
    EXPECT_EQ(outcome.kind, wire::NetstringOutcome::Kind::body);
    EXPECT_EQ(outcome.consumed, bytes.size());
    return object_of_body({outcome.body.data(), outcome.body.size()});
  }

  /// The one text message in these bytes.
  [[nodiscard]] static std::string decoded(std::string_view bytes) {
    std::string buffer(bytes);
    buffer.resize(bytes.size() + wire::kReadablePadding);
    wire::WsDecoder decoder(wire::WsDecoder::Peer::server, 1U << 20);
    const wire::WsOutcome outcome = decoder.next({buffer.data(), bytes.size()});
    EXPECT_EQ(outcome.kind, wire::WsOutcome::Kind::message);
    EXPECT_EQ(outcome.opcode, wire::WsOpcode::text);
    EXPECT_EQ(outcome.consumed, bytes.size());
    return std::string(outcome.text());
  }

  ManualClock clock;
  Mesh mesh{{.members = 1}};
  hub::HandTurnedShard home{0, mesh, clock};
  BufferPool& pool = home.pool();
  hub::OutQueue queue;
  std::string text;
};

/// Around the sizes at which the WebSocket header grows, and small ones.
class EverySize : public FrameTest, public testing::WithParamInterface<uint32_t> {
 protected:
  [[nodiscard]] static uint32_t json_bytes() { return GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(Bytes, EverySize,
                         testing::Values(200U, 1'000U, 65'534U, 65'535U, 65'536U, 65'537U, 100'000U));

TEST_P(EverySize, ABlockHoldsOneWholeFrameRightBeforeTheObject) {
  Block* frame = make_frame(pool, message_of(json_bytes()));
  ASSERT_NE(frame, nullptr);
  const FrameHeader header = frame_header(*frame);
  EXPECT_EQ(header.json_bytes, json_bytes());
  EXPECT_EQ(header.frame_bytes, wire::ws_header_size(json_bytes()) + json_bytes());
  EXPECT_EQ(header.frame_offset + header.frame_bytes, header.json_offset + header.json_bytes);
  EXPECT_EQ(frame->written, header.json_offset + header.json_bytes + 1);
  EXPECT_EQ(decoded(put_together(*frame)), frame_json(*frame));
  EXPECT_EQ(object_of(put_together(*frame, Carrier::compact)), frame_json(*frame));
  pool.release(frame);
}

TEST_P(EverySize, AnOutputGetsTheSameBytesAsABlock) {
  const wire::Message message = message_of(json_bytes());
  Block* frame = make_frame(pool, message);
  ASSERT_NE(frame, nullptr);
  EXPECT_TRUE(written(message) == put_together(*frame));
  EXPECT_TRUE(written(message, Carrier::compact) == put_together(*frame, Carrier::compact));
  pool.release(frame);
}

TEST_P(EverySize, AFrameOfAnEarlierObjectIsTheSame) {
  const wire::Message message = message_of(json_bytes());
  Block* frame = make_frame(pool, message);
  ASSERT_NE(frame, nullptr);
  Block* again =
      make_frame_of_json(pool, frame_json(*frame), wire::ServerType::message, message.conversation);
  EXPECT_EQ(frame_conversation(*again), message.conversation);
  EXPECT_EQ(again->written, frame->written);
  EXPECT_TRUE(put_together(*again) == put_together(*frame));
  EXPECT_TRUE(put_together(*again, Carrier::compact) == put_together(*frame, Carrier::compact));
  pool.release(frame);
  pool.release(again);
}

/// Objects shorter than a message can be: only an error's text makes them of any length.
class EveryShortSize : public FrameTest, public testing::WithParamInterface<uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Bytes, EveryShortSize, testing::Values(100U, 124U, 125U, 126U, 127U, 150U));

TEST_P(EveryShortSize, ABlockAndAnOutputHoldTheSameFrame) {
  wire::ErrorMessage error{
      .has_ref = true, .ref = 7, .conversation = "", .code = wire::ErrorCode::bad_json, .message = ""};
  std::array<char, 512> room{};
  text.assign(GetParam() - wire::write(room, error).size, 'x');
  error.message = text;
  Block* frame = make_frame(pool, error);
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame_json(*frame).size(), GetParam());
  EXPECT_EQ(decoded(put_together(*frame)), frame_json(*frame));
  EXPECT_EQ(object_of(put_together(*frame, Carrier::compact)), frame_json(*frame));
  EXPECT_EQ(written(error), put_together(*frame));
  EXPECT_EQ(written(error, Carrier::compact), put_together(*frame, Carrier::compact));
  EXPECT_EQ(frame_conversation(*frame), "");
  pool.release(frame);
}

TEST_F(FrameTest, TellsTheConversationAndWhereTheOtherFieldsBegin) {
  Block* frame = make_frame(pool, message_of(300));
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(frame_conversation(*frame), "c001-abc-1");
  const FrameHeader header = frame_header(*frame);
  const std::string_view rest = frame_json(*frame).substr(header.rest_offset);
  EXPECT_TRUE(rest.starts_with("\"epoch\":1,\"seq\":42,")) << rest;
  EXPECT_EQ(frame_json(*frame)[header.rest_offset - 1], ',');
  pool.release(frame);
}

TEST_F(FrameTest, TheConversationIsReadBackFromEveryKindThatEndpointsGet) {
  const std::string id(kIdBytesMax, 'c');
  for (const std::string& conversation : {std::string("c"), id}) {
    for (Block* frame :
         {make_frame(pool, wire::Assigned{.conversation = conversation, .visitor_id = "v", .group = "g"}),
          make_frame(pool, wire::Unassigned{.conversation = conversation}),
          make_frame(pool, wire::Event{.conversation = conversation}),
          make_frame(pool, wire::Message{.conversation = conversation}),
          make_frame(pool, wire::Queue{.conversation = conversation})}) {
      ASSERT_NE(frame, nullptr);
      EXPECT_EQ(frame_conversation(*frame), conversation) << frame_json(*frame);
      pool.release(frame);
    }
  }
}

TEST_F(FrameTest, AMessageWithoutConversationHasNone) {
  Block* frame = make_frame(pool, wire::Pong{.ref = 3});
  EXPECT_EQ(frame_conversation(*frame), "");
  EXPECT_EQ(frame_json(*frame), R"({"type":"pong","ref":3})");
  pool.release(frame);
}

TEST_F(FrameTest, WhatIsLargerThanAnyBlockIsRefused) {
  text.assign(BufferPool::kCapacityMax, 'x');
  const wire::Message message{.conversation = "c", .text = text};
  EXPECT_EQ(make_frame(pool, message), nullptr);
  EXPECT_FALSE(write_frame(pool, queue, Carrier::websocket, message));
  EXPECT_FALSE(write_frame(pool, queue, Carrier::compact, message));
}

}  // namespace
}  // namespace taut::gateway
