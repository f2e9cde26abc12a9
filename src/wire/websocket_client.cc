#include "wire/websocket_client.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>

#include "base/assert.h"
#include "wire/http.h"
#include "wire/unmask.h"

namespace taut::wire {
namespace {

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// The value of a header in a head of whole lines, without blanks around it; empty when there is none.
std::string_view header_value(std::string_view head, std::string_view name) {
  for (size_t line = head.find("\r\n"); line != std::string_view::npos; line = head.find("\r\n", line)) {
    line += 2;
    const std::string_view text = head.substr(line, head.find("\r\n", line) - line);
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos || !same_ignoring_case(text.substr(0, colon), name)) continue;
    std::string_view value = text.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    return value;
  }
  return {};
}

WsUpgradeAnswer refused(uint32_t status, std::string reason) {
  WsUpgradeAnswer answer;
  answer.kind = WsUpgradeAnswer::Kind::refused;
  answer.status = status;
  answer.reason = std::move(reason);
  return answer;
}

}  // namespace

size_t write_ws_client_header(std::span<char> out, WsOpcode opcode, size_t payload_bytes, uint32_t mask,
                              bool final) noexcept {
  TAUT_ASSERT(out.size() >= ws_client_header_size(payload_bytes));
  const size_t size = write_ws_header(out, opcode, payload_bytes);
  if (!final) out[0] = static_cast<char>(static_cast<uint8_t>(opcode));
  out[1] = static_cast<char>(out[1] | '\x80');
  std::memcpy(out.data() + size, &mask, 4);
  return size + 4;
}

size_t write_ws_client_frame(std::span<char> out, WsOpcode opcode, std::string_view payload, uint32_t mask,
                             bool final) noexcept {
  const size_t header = write_ws_client_header(out, opcode, payload.size(), mask, final);
  TAUT_ASSERT(out.size() >= header + payload.size());
  std::copy(payload.begin(), payload.end(), out.data() + header);
  unmask(out.subspan(header, payload.size()), mask);
  return header + payload.size();
}

std::string ws_upgrade_request(std::string_view host, std::string_view target, std::string_view key,
                               std::string_view subprotocol, std::string_view extra_headers) {
  std::string request;
  request.append("GET ").append(target).append(" HTTP/1.1\r\nHost: ").append(host);
  request.append(
      "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ");
  request.append(key).append("\r\n");
  if (!subprotocol.empty()) request.append("Sec-WebSocket-Protocol: ").append(subprotocol).append("\r\n");
  request.append(extra_headers).append("\r\n");
  return request;
}

WsUpgradeAnswer parse_ws_upgrade_answer(std::string_view in, std::string_view key) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  if (!in.starts_with(kVersion.substr(0, std::min(in.size(), kVersion.size()))))
    return refused(0, "no HTTP answer");
  const size_t end = in.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return in.size() > kHttpHeadBytesMax ? refused(0, "answer without an end") : WsUpgradeAnswer{};
  }
  const std::string_view head = in.substr(0, end + 2);
  uint32_t status = 0;
  const char* digits = head.data() + kVersion.size();
  if (std::from_chars(digits, digits + 3, status).ec != std::errc{}) return refused(0, "no HTTP answer");
  if (status != 101) return refused(status, std::string(head.substr(0, head.find("\r\n"))));
  if (header_value(head, "Sec-WebSocket-Accept") != ws_accept_key(key))
    return refused(status, "wrong accept key");

  WsUpgradeAnswer answer;
  answer.kind = WsUpgradeAnswer::Kind::accepted;
  answer.status = status;
  answer.consumed = end + 4;
  answer.subprotocol = header_value(head, "Sec-WebSocket-Protocol");
  return answer;
}

}  // namespace taut::wire
