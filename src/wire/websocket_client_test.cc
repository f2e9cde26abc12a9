#include "wire/websocket_client.h"

#include <gtest/gtest.h>

#include "wire/http.h"

namespace taut::wire {
namespace {

using AnswerKind = WsUpgradeAnswer::Kind;

constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";

TEST(WsClientFrame, IsReadBackByTheServerAtEachLengthBoundary) {
  for (const size_t size : {0U, 125U, 126U, 65'535U, 65'536U}) {
    const std::string payload(size, 'p');
    std::string bytes(ws_client_header_size(size) + size, '\0');
    EXPECT_EQ(write_ws_client_frame(bytes, WsOpcode::text, payload, 0x01020304), bytes.size());
    bytes.append(kReadablePadding, '\0');
    WsDecoder decoder(WsDecoder::Peer::client);
    const auto outcome = decoder.next(std::span(bytes).first(bytes.size() - kReadablePadding));
    EXPECT_EQ(outcome.kind, WsOutcome::Kind::message);
    EXPECT_EQ(outcome.text(), payload);
  }
}

TEST(WsUpgrade, IsAcceptedByTheServersOwnAnswer) {
  for (const std::string_view subprotocol : {kChatSubprotocol, std::string_view{}}) {
    const auto parsed = parse_http_request(ws_upgrade_request("localhost:1", "/v1/chat", kKey, subprotocol));
    ASSERT_EQ(parsed.kind, HttpOutcome::Kind::request);
    ASSERT_TRUE(check_ws_upgrade(parsed.request).accepted);
    const std::string head = write_ws_accept(parsed.request);
    const auto answer = parse_ws_upgrade_answer(head + "\x81", kKey);
    EXPECT_EQ(answer.kind, AnswerKind::accepted);
    EXPECT_EQ(answer.consumed, head.size());
    EXPECT_EQ(answer.subprotocol, subprotocol);
    for (size_t size = 0; size < head.size(); ++size) {
      ASSERT_EQ(parse_ws_upgrade_answer(std::string_view(head).substr(0, size), kKey).kind,
                AnswerKind::need_more);
    }
  }
}

TEST(WsUpgrade, CarriesExtraHeaders) {
  const auto parsed = parse_http_request(ws_upgrade_request("h", "/", kKey, "", "Origin: http://h\r\n"));
  EXPECT_EQ(parsed.request.origin, "http://h");
}

TEST(WsUpgrade, RefusesAWrongKeyAnotherStatusAndNoHttp) {
  const auto parsed = parse_http_request(ws_upgrade_request("h", "/", kKey, ""));
  EXPECT_EQ(parse_ws_upgrade_answer(write_ws_accept(parsed.request), "AAAAAAAAAAAAAAAAAAAAAA==").kind,
            AnswerKind::refused);
  const auto busy = parse_ws_upgrade_answer(write_http_problem(503, "busy", false), kKey);
  EXPECT_EQ(busy.kind, AnswerKind::refused);
  EXPECT_EQ(busy.status, 503U);
  EXPECT_EQ(parse_ws_upgrade_answer("SSH-2.0-x\r\n", kKey).kind, AnswerKind::refused);
  EXPECT_EQ(parse_ws_upgrade_answer("HTTP/1.1 101 " + std::string(kHttpHeadBytesMax, 'x'), kKey).kind,
            AnswerKind::refused);
}

}  // namespace
}  // namespace taut::wire
