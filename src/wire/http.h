// HTTP/1.1 as the gateway needs it: request heads and small bodies in, responses and problem documents out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace taut::wire {

inline constexpr size_t kHttpHeadBytesMax = size_t{16} * 1024;
inline constexpr size_t kHttpBodyBytesMax = size_t{64} * 1024;

enum class HttpMethod : uint8_t { get, head, post, put, delete_, options, patch, other };

/// A whole request. Owns its strings (HTTP is not on the data path); headers that are absent are empty.
struct HttpRequest {
  HttpMethod method = HttpMethod::get;
  std::string method_name;
  std::string target;  ///< path and query as sent
  bool http_1_0 = false;
  bool keep_alive = true;
  bool websocket = false;  ///< Connection: upgrade and Upgrade: websocket
  std::string host;
  std::string origin;
  std::string authorization;
  std::string forwarded_for;  ///< all X-Forwarded-For headers, joined by commas
  std::string content_type;
  std::string websocket_key;
  std::string websocket_version;
  std::string websocket_protocol;    ///< the offers, comma-separated
  std::string websocket_extensions;  ///< the offers of all such headers, comma-separated
  std::string body;

  /// The target before '?', and behind it.
  [[nodiscard]] std::string_view path() const;
  [[nodiscard]] std::string_view query() const;
};

struct HttpOutcome {
  enum class Kind : uint8_t { need_more, request, error };
  Kind kind = Kind::need_more;
  HttpRequest request;
  size_t consumed = 0;  ///< request: where the next one, or the first WebSocket frame, begins
  uint32_t status = 0;  ///< error: 400, 411 (chunked bodies are not taken), 413, 431, 505; answer and close
  std::string_view detail = {};  ///< error: static, in words
};

/// Parses one request from all bytes received so far. Stateless: call again with more after need_more.
[[nodiscard]] HttpOutcome parse_http_request(std::string_view in);

struct HttpHeader {
  std::string_view name = {};
  std::string_view value = {};
};

struct HttpResponse {
  uint32_t status = 200;
  std::string_view content_type = {};  ///< left out when empty
  std::string_view body = {};
  bool keep_alive = true;
  bool head_only = false;  ///< the answer to HEAD: the length of the body without it
  std::span<const HttpHeader> headers = {};
};

/// Head and body. REQUIRES: header values without CR, LF.
[[nodiscard]] std::string write_http_response(const HttpResponse& response);

/// "Not Found" for 404.
[[nodiscard]] std::string_view http_reason(uint32_t status);

/// An RFC 9457 problem document as a whole response (application/problem+json).
[[nodiscard]] std::string write_http_problem(uint32_t status, std::string_view detail, bool keep_alive,
                                             std::span<const HttpHeader> headers = {});

// -- the opening handshake of WebSocket, the server's side --

/// What to answer to a request for a WebSocket: `accepted`, or an error status with its words.
struct WsUpgradeCheck {
  bool accepted = false;
  bool subprotocol = false;  ///< the client offered kChatSubprotocol
  uint32_t status = 0;       ///< 400, 405 or 426
  std::string_view detail = {};
};

/// Method, version, Connection, Upgrade, key; version 13 alone. Origin is the caller's policy.
[[nodiscard]] WsUpgradeCheck check_ws_upgrade(const HttpRequest& request);

/// The 101 response with Sec-WebSocket-Accept, with the sub-protocol when the client offered it, and with the
/// accepted `extensions` unless empty. REQUIRES: check_ws_upgrade(request).accepted.
[[nodiscard]] std::string write_ws_accept(const HttpRequest& request, std::string_view extensions = {});

/// The refusal as a problem document; a 426 names the version. REQUIRES: !check.accepted.
[[nodiscard]] std::string write_ws_refusal(const WsUpgradeCheck& check);

/// Sec-WebSocket-Accept for a Sec-WebSocket-Key.
[[nodiscard]] std::string ws_accept_key(std::string_view key);

}  // namespace taut::wire
