#include "wire/http.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/string_body.hpp>
#include <charconv>

#include "base/assert.h"
#include "wire/chat_codes.h"
#include "wire/json_escape.h"

namespace taut::wire {
namespace {

namespace beast_http = boost::beast::http;
using BeastParser = beast_http::request_parser<beast_http::string_body>;
using BeastRequest = beast_http::request<beast_http::string_body>;

constexpr std::string_view kProblemType = "application/problem+json";
constexpr std::string_view kWsVersion = "13";

HttpOutcome refuse(uint32_t status, std::string_view detail) {
  HttpOutcome outcome;
  outcome.kind = HttpOutcome::Kind::error;
  outcome.status = status;
  outcome.detail = detail;
  return outcome;
}

HttpOutcome refuse(const boost::system::error_code& error) {
  using Error = beast_http::error;
  if (error == Error::header_limit) return refuse(431, "request head too large");
  if (error == Error::body_limit) return refuse(413, "request body too large");
  if (error == Error::bad_version) return refuse(505, "HTTP version not supported");
  return refuse(400, "malformed request");
}

HttpMethod method_of(beast_http::verb verb) {
  switch (verb) {
    case beast_http::verb::get:
      return HttpMethod::get;
    case beast_http::verb::head:
      return HttpMethod::head;
    case beast_http::verb::post:
      return HttpMethod::post;
    case beast_http::verb::put:
      return HttpMethod::put;
    case beast_http::verb::delete_:
      return HttpMethod::delete_;
    case beast_http::verb::options:
      return HttpMethod::options;
    case beast_http::verb::patch:
      return HttpMethod::patch;
    default:
      return HttpMethod::other;
  }
}

/// A list that may be spread over several headers.
std::string joined(const BeastRequest& from, std::string_view name) {
  std::string list;
  const auto [begin, end] = from.equal_range(name);
  for (auto it = begin; it != end; ++it) {
    if (!list.empty()) list += ',';
    list += std::string_view(it->value());
  }
  return list;
}

HttpRequest request_of(BeastRequest&& from) {
  using Field = beast_http::field;
  HttpRequest request;
  request.method = method_of(from.method());
  request.method_name = from.method_string();
  request.target = from.target();
  request.http_1_0 = from.version() == 10;
  request.keep_alive = from.keep_alive();
  request.websocket = beast_http::token_list(from[Field::connection]).exists("upgrade") &&
                      beast_http::token_list(from[Field::upgrade]).exists("websocket");
  request.host = from[Field::host];
  request.origin = from[Field::origin];
  request.authorization = from[Field::authorization];
  request.content_type = from[Field::content_type];
  request.forwarded_for = joined(from, "X-Forwarded-For");
  request.websocket_key = from[Field::sec_websocket_key];
  request.websocket_version = from[Field::sec_websocket_version];
  request.websocket_protocol = from[Field::sec_websocket_protocol];
  request.websocket_extensions = joined(from, "Sec-WebSocket-Extensions");
  request.body = std::move(from.body());
  return request;
}

void append_number(std::string& out, uint64_t value) {
  std::array<char, 20> digits;
  out.append(digits.data(), std::to_chars(digits.begin(), digits.end(), value).ptr);
}

void append_escaped(std::string& out, std::string_view text) {
  const size_t before = out.size();
  out.resize(before + json_escaped_size(text));
  write_json_escaped(std::span(out).subspan(before), text);
}

/// The key is 16 bytes in base64.
bool valid_ws_key(std::string_view key) {
  constexpr size_t kKeyChars = 24;
  if (key.size() != kKeyChars || !key.ends_with("==")) return false;
  std::array<unsigned char, 18> bytes;
  return EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(key.data()), kKeyChars) == 18;
}

WsUpgradeCheck refuse_upgrade(uint32_t status, std::string_view detail) {
  return {.accepted = false, .subprotocol = false, .status = status, .detail = detail};
}

}  // namespace

std::string_view HttpRequest::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

std::string_view HttpRequest::query() const {
  const size_t mark = target.find('?');
  return mark == std::string::npos ? std::string_view{} : std::string_view(target).substr(mark + 1);
}

HttpOutcome parse_http_request(std::string_view in) {
  if (in.empty()) return {};
  if (in[0] < 'A' || in[0] > 'Z') return refuse(400, "not an HTTP request");
  const size_t head_end = in.find("\r\n\r\n");
  if (head_end == std::string_view::npos || head_end + 4 > kHttpHeadBytesMax) {
    return in.size() > kHttpHeadBytesMax ? refuse(431, "request head too large") : HttpOutcome{};
  }
  BeastParser parser;
  parser.header_limit(kHttpHeadBytesMax);
  parser.body_limit(kHttpBodyBytesMax);
  boost::system::error_code error;
  size_t consumed = parser.put(boost::asio::buffer(in.data(), head_end + 4), error);
  if (error && error != beast_http::error::need_more) return refuse(error);
  if (!parser.is_header_done()) return refuse(400, "malformed request");
  if (parser.chunked()) return refuse(411, "chunked bodies are not accepted");
  // Of any other coding nobody knows where the body ends: what follows must not be read as a request (RFC
  // 9112, 6.3).
  if (parser.get().count(beast_http::field::transfer_encoding) != 0) {
    return refuse(400, "transfer codings are not accepted");
  }
  if (parser.get().version() >= 11 && parser.get().count(beast_http::field::host) != 1) {
    return refuse(400, "exactly one Host header is required");
  }
  if (!parser.is_done()) {
    const auto length = parser.content_length().value_or(0);
    if (length > kHttpBodyBytesMax) return refuse(413, "request body too large");
    if (in.size() - consumed < length) return {};
    parser.eager(true);
    consumed += parser.put(boost::asio::buffer(in.data() + consumed, length), error);
    if (error) return refuse(error);
    TAUT_ASSERT(parser.is_done());
  }
  HttpOutcome outcome;
  outcome.kind = HttpOutcome::Kind::request;
  outcome.request = request_of(parser.release());
  outcome.consumed = consumed;
  return outcome;
}

std::string_view http_reason(uint32_t status) {
  const auto text = beast_http::obsolete_reason(static_cast<beast_http::status>(status));
  return {text.data(), text.size()};
}

std::string write_http_response(const HttpResponse& response) {
  std::string out;
  out.reserve(256 + response.body.size());
  out.append("HTTP/1.1 ");
  append_number(out, response.status);
  out.append(" ").append(http_reason(response.status));
  if (!response.content_type.empty()) out.append("\r\nContent-Type: ").append(response.content_type);
  for (const auto& [name, value] : response.headers) {
    TAUT_ASSERT(value.find_first_of("\r\n") == std::string_view::npos);
    out.append("\r\n").append(name).append(": ").append(value);
  }
  out.append("\r\nContent-Length: ");
  append_number(out, response.body.size());
  if (!response.keep_alive) out.append("\r\nConnection: close");
  out.append("\r\n\r\n");
  if (!response.head_only) out.append(response.body);
  return out;
}

std::string write_http_problem(uint32_t status, std::string_view detail, bool keep_alive,
                               std::span<const HttpHeader> headers) {
  std::string body = R"({"type":"about:blank","title":")";
  body.append(http_reason(status)).append(R"(","status":)");
  append_number(body, status);
  body.append(R"(,"detail":")");
  append_escaped(body, detail);
  body.append("\"}");
  return write_http_response({.status = status,
                              .content_type = kProblemType,
                              .body = body,
                              .keep_alive = keep_alive,
                              .head_only = false,
                              .headers = headers});
}

WsUpgradeCheck check_ws_upgrade(const HttpRequest& request) {
  if (request.method != HttpMethod::get) return refuse_upgrade(405, "a WebSocket opens with GET");
  if (!request.websocket || request.http_1_0) return refuse_upgrade(426, "this address speaks WebSocket");
  if (request.websocket_version != kWsVersion)
    return refuse_upgrade(426, "WebSocket version 13 is spoken here");
  if (!valid_ws_key(request.websocket_key))
    return refuse_upgrade(400, "Sec-WebSocket-Key is not 16 bytes in base64");
  WsUpgradeCheck check;
  check.accepted = true;
  check.subprotocol = beast_http::token_list(request.websocket_protocol).exists(kChatSubprotocol);
  return check;
}

std::string write_ws_accept(const HttpRequest& request, std::string_view extensions) {
  const WsUpgradeCheck check = check_ws_upgrade(request);
  TAUT_ASSERT(check.accepted);
  std::string out =
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
      "Upgrade\r\nSec-WebSocket-Accept: ";
  out.append(ws_accept_key(request.websocket_key));
  if (check.subprotocol) out.append("\r\nSec-WebSocket-Protocol: ").append(kChatSubprotocol);
  if (!extensions.empty()) out.append("\r\nSec-WebSocket-Extensions: ").append(extensions);
  out.append("\r\n\r\n");
  return out;
}

std::string write_ws_refusal(const WsUpgradeCheck& check) {
  TAUT_ASSERT(!check.accepted);
  const std::array<HttpHeader, 3> upgrade = {
      {{"Upgrade", "websocket"}, {"Connection", "Upgrade"}, {"Sec-WebSocket-Version", kWsVersion}}};
  const std::array<HttpHeader, 1> allow = {{{"Allow", "GET"}}};
  std::span<const HttpHeader> headers;
  if (check.status == 426) headers = upgrade;
  if (check.status == 405) headers = allow;
  return write_http_problem(check.status, check.detail, false, headers);
}

std::string ws_accept_key(std::string_view key) {
  std::string text(key);
  text.append("258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::array<unsigned char, 4 * ((SHA_DIGEST_LENGTH + 2) / 3) + 1> encoded;
  const int size = EVP_EncodeBlock(encoded.data(), digest.data(), SHA_DIGEST_LENGTH);
  return {reinterpret_cast<const char*>(encoded.data()), static_cast<size_t>(size)};
}

}  // namespace taut::wire
