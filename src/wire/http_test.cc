#include "wire/http.h"

#include <gtest/gtest.h>

#include "wire/chat_codes.h"

namespace taut::wire {
namespace {

using HttpKind = HttpOutcome::Kind;

constexpr std::string_view kUpgrade =
    "GET /v1/chat?x=1 HTTP/1.1\r\nHost: example:8080\r\nConnection: keep-alive, Upgrade\r\nUpgrade: "
    "WebSocket\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nOrigin: "
    "http://example:8080\r\n"
    "Sec-WebSocket-Protocol: other, taut.v1.json\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n";

constexpr std::string_view kPost =
    "POST /v1/tokens HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer k\r\nContent-Type: application/json\r\n"
    "Content-Length: 13\r\n\r\n{\"id\":\"a1\"}\r\n";

HttpRequest parsed(std::string_view in) {
  HttpOutcome outcome = parse_http_request(in);
  EXPECT_EQ(outcome.kind, HttpKind::request) << outcome.status << ' ' << outcome.detail;
  return std::move(outcome.request);
}

uint32_t refusal(std::string_view in) {
  const HttpOutcome outcome = parse_http_request(in);
  return outcome.kind == HttpKind::error ? outcome.status : 0;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out(text);
  const size_t at = out.find(from);
  EXPECT_NE(at, std::string::npos);
  return out.replace(at, from.size(), to);
}

TEST(HttpRequest, HoldsTheHeadersOfInterest) {
  const HttpRequest request = parsed(kUpgrade);
  EXPECT_EQ(request.method, HttpMethod::get);
  EXPECT_EQ(request.path(), "/v1/chat");
  EXPECT_EQ(request.query(), "x=1");
  EXPECT_TRUE(request.websocket);
  EXPECT_TRUE(request.keep_alive);
  EXPECT_EQ(request.host, "example:8080");
  EXPECT_EQ(request.origin, "http://example:8080");
  EXPECT_EQ(request.websocket_key, "dGhlIHNhbXBsZSBub25jZQ==");
  EXPECT_EQ(request.websocket_version, "13");
  EXPECT_EQ(request.websocket_protocol, "other, taut.v1.json");
  EXPECT_EQ(request.websocket_extensions, "permessage-deflate");
}

TEST(HttpRequest, HoldsItsBody) {
  const HttpRequest request = parsed(kPost);
  EXPECT_EQ(request.method, HttpMethod::post);
  EXPECT_EQ(request.authorization, "Bearer k");
  EXPECT_EQ(request.content_type, "application/json");
  EXPECT_EQ(request.body, "{\"id\":\"a1\"}\r\n");
  EXPECT_EQ(request.query(), "");
}

TEST(HttpRequest, NeedsMoreAtEveryByteButTheLast) {
  for (const std::string_view in : {kUpgrade, kPost}) {
    for (size_t size = 0; size < in.size(); ++size) {
      ASSERT_EQ(parse_http_request(in.substr(0, size)).kind, HttpKind::need_more) << size;
    }
    EXPECT_EQ(parse_http_request(in).consumed, in.size());
  }
}

TEST(HttpRequest, LeavesWhatFollows) {
  for (const std::string_view in : {kUpgrade, kPost}) {
    const HttpOutcome outcome = parse_http_request(std::string(in) + "GET / HTTP/1.1\r\n");
    EXPECT_EQ(outcome.kind, HttpKind::request);
    EXPECT_EQ(outcome.consumed, in.size());
  }
}

TEST(HttpRequest, SaysWhetherTheConnectionStays) {
  EXPECT_TRUE(parsed("GET / HTTP/1.1\r\nHost: h\r\n\r\n").keep_alive);
  EXPECT_FALSE(parsed("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").keep_alive);
  EXPECT_FALSE(parsed("GET / HTTP/1.0\r\n\r\n").keep_alive);
}

TEST(HttpRequest, RefusesWhatIsNotHttpAtItsFirstByte) {
  EXPECT_EQ(refusal("\x16\x03\x01"), 400U);
  EXPECT_EQ(refusal("5:hello,"), 400U);
}

TEST(HttpRequest, RefusesMalformedHeads) {
  for (const std::string_view in :
       {"GET\r\n\r\n", "GET / HTTP/1.1\r\nHost h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nA b: c\r\n\r\n",
        "GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"}) {
    EXPECT_EQ(refusal(in), 400U) << in;
  }
}

TEST(HttpRequest, RefusesAVersionOtherThan1) {
  EXPECT_EQ(refusal("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), 505U);
}

TEST(HttpRequest, RefusesNoHostAndTwoHosts) {
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\n\r\n"), 400U);
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), 400U);
}

TEST(HttpRequest, RefusesChunkedBodies) {
  EXPECT_EQ(refusal("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 411U);
  for (const char* coding :
       {"gzip", "xchunked", "chunked, gzip", "identity", "", "gzip\r\nContent-Length: 5"}) {
    const std::string head = std::string("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: ") + coding;
    EXPECT_EQ(refusal(head + "\r\n\r\nhello"), 400U) << coding;
  }
}

TEST(HttpRequest, TakesAHeadOfTheLimitAndRefusesOneByteMore) {
  const auto head = [](size_t size) {
    std::string text = "GET / HTTP/1.1\r\nHost: h\r\nX: \r\n\r\n";
    return text.insert(text.size() - 4, size - text.size(), 'x');
  };
  EXPECT_EQ(parsed(head(kHttpHeadBytesMax)).host, "h");
  EXPECT_EQ(refusal(head(kHttpHeadBytesMax + 1)), 431U);
  EXPECT_EQ(refusal("GET /" + std::string(kHttpHeadBytesMax, 'x')), 431U);
}

TEST(HttpRequest, TakesABodyOfTheLimitAndRefusesOneByteMoreAtTheHead) {
  const auto head = [](size_t size) {
    return "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n";
  };
  EXPECT_EQ(parsed(head(kHttpBodyBytesMax) + std::string(kHttpBodyBytesMax, 'b')).body.size(),
            kHttpBodyBytesMax);
  EXPECT_EQ(refusal(head(kHttpBodyBytesMax + 1)), 413U);
  EXPECT_EQ(refusal(head(SIZE_MAX)), 413U);
}

TEST(HttpResponse, SaysTypeLengthHeadersAndConnection) {
  const HttpHeader headers[] = {{"Retry-After", "1"}};
  EXPECT_EQ(write_http_response({.status = 503,
                                 .content_type = "text/plain",
                                 .body = "busy",
                                 .keep_alive = false,
                                 .headers = headers}),
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: "
            "1\r\nContent-Length: 4\r\n"
            "Connection: close\r\n\r\nbusy");
}

TEST(HttpResponse, LeavesTheBodyOutForHead) {
  EXPECT_EQ(write_http_response({.content_type = {}, .body = "busy", .head_only = true, .headers = {}}),
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
}

TEST(HttpProblem, IsAnEscapedProblemDocument) {
  const std::string out = write_http_problem(404, "no \"x\"\n", true);
  EXPECT_NE(out.find("Content-Type: application/problem+json\r\n"), std::string::npos);
  EXPECT_TRUE(
      out.ends_with(R"({"type":"about:blank","title":"Not Found","status":404,"detail":"no \"x\"\n"})"));
}

TEST(WsUpgrade, ComputesTheAcceptKeyOfTheRfc) {
  EXPECT_EQ(ws_accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(WsUpgrade, IsAcceptedWithTheSubprotocolOnlyWhenOffered) {
  const HttpRequest with = parsed(kUpgrade);
  EXPECT_TRUE(check_ws_upgrade(with).accepted);
  EXPECT_TRUE(check_ws_upgrade(with).subprotocol);
  EXPECT_EQ(
      write_ws_accept(with),
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: taut.v1.json\r\n\r\n");
  const HttpRequest without = parsed(replaced(kUpgrade, ", taut.v1.json", ""));
  EXPECT_TRUE(check_ws_upgrade(without).accepted);
  EXPECT_EQ(write_ws_accept(without).find("Protocol:"), std::string::npos);
}

TEST(WsUpgrade, NamesTheExtensionsThatAreAccepted) {
  const std::string out = write_ws_accept(parsed(kUpgrade), "permessage-deflate");
  EXPECT_TRUE(out.ends_with("\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"));
}

TEST(HttpRequest, JoinsTheOffersOfAllExtensionHeaders) {
  const HttpRequest request =
      parsed(replaced(kUpgrade, "Sec-WebSocket-Extensions: permessage-deflate",
                      "Sec-WebSocket-Extensions: foo\r\nSec-WebSocket-Extensions: permessage-deflate"));
  EXPECT_EQ(request.websocket_extensions, "foo,permessage-deflate");
}

TEST(WsUpgrade, RefusesWithTheStatusThatSaysWhy) {
  const auto status = [](std::string_view in) { return check_ws_upgrade(parsed(in)).status; };
  EXPECT_EQ(status(replaced(kUpgrade, "Version: 13", "Version: 8")), 426U);
  EXPECT_EQ(status(replaced(kUpgrade, "Upgrade: WebSocket\r\n", "")), 426U);
  EXPECT_EQ(status(replaced(kUpgrade, "keep-alive, Upgrade", "keep-alive")), 426U);
  EXPECT_EQ(status(replaced(kUpgrade, "GET", "POST")), 405U);
  for (const std::string_view key :
       {"", "c2hvcnQ=", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBs!SBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQAA"}) {
    EXPECT_EQ(status(replaced(kUpgrade, "dGhlIHNhbXBsZSBub25jZQ==", key)), 400U) << key;
  }
}

TEST(WsUpgrade, NamesTheVersionInARefusal) {
  const auto check = check_ws_upgrade(parsed(replaced(kUpgrade, "Version: 13", "Version: 8")));
  const std::string out = write_ws_refusal(check);
  EXPECT_TRUE(out.starts_with("HTTP/1.1 426 Upgrade Required\r\n"));
  EXPECT_NE(out.find("Sec-WebSocket-Version: 13\r\n"), std::string::npos);
  const std::string not_get = write_ws_refusal(check_ws_upgrade(parsed(replaced(kUpgrade, "GET", "PUT"))));
  EXPECT_NE(not_get.find("Allow: GET\r\n"), std::string::npos);
}

}  // namespace
}  // namespace taut::wire
