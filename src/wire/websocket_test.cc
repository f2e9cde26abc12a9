#include "wire/websocket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "wire/websocket_client.h"
#include "wire/websocket_feed.h"

namespace taut::wire {
namespace {

using WsKind = WsOutcome::Kind;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr uint32_t kMax = 1'000;
constexpr uint32_t kMask = 0xA1B2C3D4;

std::string frame(WsOpcode opcode, std::string_view payload, bool final = true, uint32_t mask = kMask) {
  std::string out(ws_client_header_size(payload.size()) + payload.size(), '\0');
  // Written as a text and renamed, because the encoder refuses what the decoder must refuse as well.
  write_ws_client_frame(out, WsOpcode::text, payload, mask, final);
  out[0] = static_cast<char>((static_cast<uint8_t>(out[0]) & 0xF0U) | static_cast<uint8_t>(opcode));
  return out;
}

std::string close_frame(int code, std::string_view reason = {}) {
  std::string payload = {static_cast<char>(code >> 8), static_cast<char>(code)};
  return frame(WsOpcode::close, payload.append(reason));
}

WsSeen message(WsOpcode opcode, std::string bytes) {
  return {WsKind::message, opcode, CloseCode::none, std::move(bytes)};
}
WsSeen control(WsOpcode opcode, std::string bytes, CloseCode code = CloseCode::none) {
  return {WsKind::control, opcode, code, std::move(bytes)};
}

WsFeed feed_whole(std::string_view bytes) {
  WsFeed feed(WsDecoder::Peer::client, kMax);
  feed.feed(bytes);
  return feed;
}

/// The code with which these bytes are refused, `none` if they are not.
CloseCode refusal(std::string_view bytes) {
  const WsFeed feed = feed_whole(bytes);
  return feed.failed() ? feed.seen().back().close_code : CloseCode::none;
}

std::string mixed_stream() {
  std::string big(700, 'x');
  return frame(WsOpcode::text, "one") + frame(WsOpcode::ping, "a") + frame(WsOpcode::text, "frag", false) +
         frame(WsOpcode::ping, "between") + frame(WsOpcode::continuation, "", false) +
         frame(WsOpcode::pong, "") + frame(WsOpcode::continuation, "mented") + frame(WsOpcode::binary, big) +
         frame(WsOpcode::text, "") + frame(WsOpcode::binary, "b", false, 0) +
         frame(WsOpcode::continuation, big) + close_frame(1000, "bye");
}

std::vector<WsSeen> mixed_outcomes() {
  const std::string big(700, 'x');
  return {message(WsOpcode::text, "one"),
          control(WsOpcode::ping, "a"),
          control(WsOpcode::ping, "between"),
          control(WsOpcode::pong, ""),
          message(WsOpcode::text, "fragmented"),
          message(WsOpcode::binary, big),
          message(WsOpcode::text, ""),
          message(WsOpcode::binary, "b" + big),
          control(WsOpcode::close, "bye", CloseCode::done)};
}

TEST(WsDecoder, FindsAWholeMessageInPlaceInOneCall) {
  std::string bytes = frame(WsOpcode::text, "hello") + frame(WsOpcode::text, "next");
  bytes.append(kReadablePadding, '\0');
  WsDecoder decoder(WsDecoder::Peer::client);
  const auto outcome = decoder.next(std::span(bytes).first(bytes.size() - kReadablePadding));
  EXPECT_EQ(outcome.kind, WsKind::message);
  EXPECT_EQ(outcome.text(), "hello");
  EXPECT_EQ(outcome.payload.data(), bytes.data() + 6);
  EXPECT_EQ(outcome.consumed, 11U);
}

TEST(WsDecoder, SaysHowManyBytesItWants) {
  const std::string bytes = frame(WsOpcode::text, std::string(300, 'x'));
  WsFeed feed(WsDecoder::Peer::client, kMax);
  feed.feed(bytes.substr(0, 1));
  EXPECT_EQ(feed.wanted(), 2U);
  feed.feed(bytes.substr(1, 1));
  EXPECT_EQ(feed.wanted(), 8U);
  feed.feed(bytes.substr(2, 6));
  EXPECT_EQ(feed.wanted(), 308U);
}

TEST(WsDecoder, DecodesAMixedStream) {
  EXPECT_EQ(feed_whole(mixed_stream()).seen(), mixed_outcomes());
}

TEST(WsDecoder, GivesTheSameWhereverTheStreamIsSplit) {
  const std::string bytes = mixed_stream();
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    WsFeed feed(WsDecoder::Peer::client, kMax);
    feed.feed(bytes.substr(0, cut));
    feed.feed(bytes.substr(cut));
    ASSERT_EQ(feed.seen(), mixed_outcomes()) << "cut at " << cut;
  }
}

TEST(WsDecoder, GivesTheSameByteByByte) {
  WsFeed feed(WsDecoder::Peer::client, kMax);
  for (const char byte : mixed_stream()) feed.feed({&byte, 1});
  EXPECT_EQ(feed.seen(), mixed_outcomes());
  EXPECT_EQ(feed.kept(), 0U);
}

TEST(WsDecoder, KeepsOnlyThePayloadOfManyTinyFragments) {
  WsFeed feed(WsDecoder::Peer::client, kMax);
  feed.feed(frame(WsOpcode::text, "x", false));
  for (size_t i = 1; i < kMax; ++i) {
    feed.feed(frame(WsOpcode::continuation, "x", false));
    ASSERT_EQ(feed.kept(), i + 1);
  }
  feed.feed(frame(WsOpcode::continuation, ""));
  EXPECT_THAT(feed.seen(), ElementsAre(message(WsOpcode::text, std::string(kMax, 'x'))));
}

TEST(WsDecoder, TakesAMessageOfExactlyTheLimit) {
  const std::string most(kMax, 'x');
  EXPECT_THAT(feed_whole(frame(WsOpcode::text, most)).seen(), ElementsAre(message(WsOpcode::text, most)));
}

TEST(WsDecoder, RefusesOneByteMoreThanTheLimitAtTheHeader) {
  EXPECT_EQ(refusal(frame(WsOpcode::text, std::string(kMax + 1, 'x')).substr(0, 8)), CloseCode::too_big);
}

TEST(WsDecoder, RefusesFragmentsThatTogetherExceedTheLimit) {
  const std::string most(kMax, 'x');
  EXPECT_EQ(refusal(frame(WsOpcode::text, most, false) + frame(WsOpcode::continuation, "")), CloseCode::none);
  EXPECT_EQ(refusal(frame(WsOpcode::text, most, false) + frame(WsOpcode::continuation, "x")),
            CloseCode::too_big);
}

std::string with_rsv(std::string frame, int bits) {
  frame[0] = static_cast<char>(frame[0] | bits);
  return frame;
}

/// As after an agreement on permessage-deflate.
WsFeed feed_deflate(std::string_view bytes) {
  WsFeed feed(WsDecoder::Peer::client, kMax, true);
  feed.feed(bytes);
  return feed;
}

TEST(WsDecoder, TellsWhichMessagesAreCompressedOnceThatIsAgreedOn) {
  const std::string stream = with_rsv(frame(WsOpcode::text, "whole"), 0x40) + frame(WsOpcode::text, "plain") +
                             with_rsv(frame(WsOpcode::binary, "in ", false), 0x40) +
                             frame(WsOpcode::ping, "p") + frame(WsOpcode::continuation, "two") +
                             frame(WsOpcode::text, "pl", false) + frame(WsOpcode::continuation, "ain");
  const auto deflated = [](WsSeen seen) {
    seen.deflated = true;
    return seen;
  };
  const std::vector<WsSeen> expected = {deflated(message(WsOpcode::text, "whole")),
                                        message(WsOpcode::text, "plain"), control(WsOpcode::ping, "p"),
                                        deflated(message(WsOpcode::binary, "in two")),
                                        message(WsOpcode::text, "plain")};
  EXPECT_EQ(feed_deflate(stream).seen(), expected);
  WsFeed bytewise(WsDecoder::Peer::client, kMax, true);
  for (const char byte : stream) bytewise.feed({&byte, 1});
  EXPECT_EQ(bytewise.seen(), expected);
  for (size_t at = 1; at < stream.size(); ++at) {
    WsFeed split(WsDecoder::Peer::client, kMax, true);
    split.feed(std::string_view(stream).substr(0, at));
    split.feed(std::string_view(stream).substr(at));
    EXPECT_EQ(split.seen(), expected) << at;
  }
}

TEST(WsDecoder, RefusesReservedBitsEvenSoWhereTheyMeanNothing) {
  const auto refused = [](const std::string& bytes) {
    const WsFeed feed = feed_deflate(bytes);
    return feed.failed() && feed.seen().back().close_code == CloseCode::protocol;
  };
  EXPECT_FALSE(refused(with_rsv(frame(WsOpcode::text, "x"), 0x40)));
  for (const int bits : {0x20, 0x10, 0x60, 0x50})
    EXPECT_TRUE(refused(with_rsv(frame(WsOpcode::text, "x"), bits)));
  for (const WsOpcode control : {WsOpcode::ping, WsOpcode::pong, WsOpcode::close})
    EXPECT_TRUE(refused(with_rsv(frame(control, ""), 0x40)));
  for (const int first : {0, 0x40}) {
    EXPECT_TRUE(refused(with_rsv(frame(WsOpcode::text, "x", false), first) +
                        with_rsv(frame(WsOpcode::continuation, "y"), 0x40)));
  }
}

TEST(WsDecoder, RefusesEachReservedBit) {
  for (const char bit : {'\x40', '\x20', '\x10'}) {
    std::string bytes = frame(WsOpcode::text, "x");
    bytes[0] = static_cast<char>(bytes[0] | bit);
    EXPECT_EQ(refusal(bytes), CloseCode::protocol);
  }
}

TEST(WsDecoder, RefusesEachUnknownOpcode) {
  for (const int opcode : {3, 4, 5, 6, 7, 11, 12, 13, 14, 15}) {
    EXPECT_EQ(refusal(frame(static_cast<WsOpcode>(opcode), "")), CloseCode::protocol) << opcode;
  }
}

TEST(WsDecoder, RefusesAClientFrameWithoutAMask) {
  EXPECT_EQ(refusal(std::string("\x81\x01x", 3)), CloseCode::protocol);
}

TEST(WsDecoder, RefusesAServerFrameWithAMask) {
  WsFeed feed(WsDecoder::Peer::server, kMax);
  feed.feed(frame(WsOpcode::text, "x"));
  ASSERT_TRUE(feed.failed());
  EXPECT_EQ(feed.seen().back().close_code, CloseCode::protocol);
}

TEST(WsDecoder, RefusesALengthThatIsNotInItsShortestForm) {
  EXPECT_EQ(refusal(std::string("\x81\xFE\x00\x7D", 4) + "mask"), CloseCode::protocol);
  EXPECT_EQ(refusal(std::string("\x81\xFE\x00\x7E", 4) + "mask"), CloseCode::none);
  EXPECT_EQ(refusal(std::string("\x81\xFF\0\0\0\0\0\0\xFF\xFF", 10) + "mask"), CloseCode::protocol);
  EXPECT_EQ(refusal(std::string("\x81\xFF\0\0\0\0\0\1\0\0", 10) + "mask"), CloseCode::too_big);
}

TEST(WsDecoder, RefusesALengthWithItsHighestBitSet) {
  EXPECT_EQ(refusal(std::string("\x81\xFF\x80\0\0\0\0\0\0\0", 10) + "mask"), CloseCode::protocol);
}

TEST(WsDecoder, RefusesAFragmentedControlFrame) {
  for (const auto opcode : {WsOpcode::ping, WsOpcode::pong, WsOpcode::close}) {
    EXPECT_EQ(refusal(frame(opcode, "", false)), CloseCode::protocol);
  }
}

TEST(WsDecoder, RefusesAControlFrameLongerThan125) {
  EXPECT_EQ(refusal(frame(WsOpcode::ping, std::string(125, 'x'))), CloseCode::none);
  EXPECT_EQ(refusal(frame(WsOpcode::ping, std::string(126, 'x')).substr(0, 2)), CloseCode::protocol);
}

TEST(WsDecoder, RefusesAContinuationOfNothing) {
  EXPECT_EQ(refusal(frame(WsOpcode::continuation, "x")), CloseCode::protocol);
  EXPECT_EQ(refusal(mixed_stream() + frame(WsOpcode::continuation, "x")), CloseCode::protocol);
}

TEST(WsDecoder, RefusesANewMessageInsideAnother) {
  for (const auto opcode : {WsOpcode::text, WsOpcode::binary}) {
    EXPECT_EQ(refusal(frame(WsOpcode::text, "x", false) + frame(opcode, "y")), CloseCode::protocol);
  }
}

TEST(WsDecoder, TakesACloseWithoutACode) {
  EXPECT_THAT(feed_whole(frame(WsOpcode::close, "")).seen(), ElementsAre(control(WsOpcode::close, "")));
}

TEST(WsDecoder, RefusesAClosePayloadOfOneByte) {
  EXPECT_EQ(refusal(frame(WsOpcode::close, "x")), CloseCode::protocol);
}

TEST(WsDecoder, TakesEachCloseCodeThatMayBeOnTheWire) {
  for (const int code :
       {1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1014, 3000, 3999, 4000, 4999}) {
    EXPECT_THAT(feed_whole(close_frame(code, "why")).seen(),
                ElementsAre(control(WsOpcode::close, "why", static_cast<CloseCode>(code))));
  }
}

TEST(WsDecoder, RefusesEachCloseCodeThatMustNotBeOnTheWire) {
  for (const int code : {0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535}) {
    EXPECT_EQ(refusal(close_frame(code)), CloseCode::protocol) << code;
  }
}

TEST(WsDecoder, RefusesACloseReasonThatIsNotUtf8) {
  EXPECT_EQ(refusal(close_frame(1000, "\xC3\xA9")), CloseCode::none);
  EXPECT_EQ(refusal(close_frame(1000, "\xC3")), CloseCode::broken_utf8);
  EXPECT_EQ(refusal(close_frame(1000, "\xED\xA0\x80")), CloseCode::broken_utf8);
}

TEST(WsDecoder, LeavesTheUtf8OfATextMessageToItsReader) {
  EXPECT_THAT(feed_whole(frame(WsOpcode::text, "\xC3")).seen(), ElementsAre(message(WsOpcode::text, "\xC3")));
}

TEST(WsDecoder, AnswersTheSameForRandomStreamsSplitAtRandom) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    for (int frames = 0; frames < 12; ++frames) {
      constexpr std::array kOpcodes = {WsOpcode::text, WsOpcode::binary, WsOpcode::continuation,
                                       WsOpcode::ping};
      const auto opcode = kOpcodes[random() % kOpcodes.size()];
      const std::string payload(random() % 130, static_cast<char>('a' + frames));
      bytes += frame(opcode, payload, random() % 2 == 0, static_cast<uint32_t>(random()));
      if (random() % 40 == 0) bytes[random() % bytes.size()] ^= 1;
    }
    WsFeed split(WsDecoder::Peer::client, kMax);
    for (size_t at = 0; at < bytes.size();) {
      const size_t piece = 1 + random() % 90;
      split.feed(std::string_view(bytes).substr(at, piece));
      at += piece;
    }
    ASSERT_EQ(split.seen(), feed_whole(bytes).seen());
  }
}

TEST(WsHeader, IsReadBackByTheClientAtEachLengthBoundary) {
  for (const size_t size : {0U, 1U, 125U, 126U, 127U, 65'535U, 65'536U, 70'000U}) {
    const std::string payload(size, 'p');
    std::string bytes(ws_header_size(size), '\0');
    EXPECT_EQ(write_ws_header(bytes, WsOpcode::binary, size), bytes.size());
    WsFeed feed(WsDecoder::Peer::server, 70'000);
    feed.feed(bytes + payload);
    EXPECT_THAT(feed.seen(), ElementsAre(message(WsOpcode::binary, payload))) << size;
  }
}

TEST(WsControl, IsReadBackByTheClient) {
  std::string bytes(2 + kWsControlBytesMax, '\0');
  bytes.resize(write_ws_control(bytes, WsOpcode::pong, "echo"));
  WsFeed feed(WsDecoder::Peer::server, kMax);
  feed.feed(bytes);
  EXPECT_THAT(feed.seen(), ElementsAre(control(WsOpcode::pong, "echo")));
}

std::vector<WsSeen> written_close(CloseCode code, std::string_view reason) {
  std::string bytes(2 + kWsControlBytesMax, '\0');
  bytes.resize(write_ws_close(bytes, code, reason));
  WsFeed feed(WsDecoder::Peer::server, kMax);
  feed.feed(bytes);
  return feed.seen();
}

TEST(WsClose, CarriesCodeAndReason) {
  EXPECT_THAT(written_close(CloseCode::rate_limited, "retry_after_ms=5"),
              ElementsAre(control(WsOpcode::close, "retry_after_ms=5", CloseCode::rate_limited)));
  EXPECT_THAT(written_close(CloseCode::none, "unused"), ElementsAre(control(WsOpcode::close, "")));
}

TEST(WsClose, CutsALongReasonBetweenTwoCharacters) {
  std::string euros;
  for (int i = 0; i < 60; ++i) euros += "\xE2\x82\xAC";
  EXPECT_THAT(
      written_close(CloseCode::done, euros),
      ElementsAre(control(WsOpcode::close, euros.substr(0, kWsReasonBytesMax / 3 * 3), CloseCode::done)));
  EXPECT_THAT(written_close(CloseCode::done, "x" + euros),
              ElementsAre(control(WsOpcode::close, "x" + euros.substr(0, 40 * 3), CloseCode::done)));
}

}  // namespace
}  // namespace taut::wire
