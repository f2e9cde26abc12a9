#include "wire/compact.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/assert.h"

namespace taut::wire {

std::optional<uint32_t> parse_decimal(std::string_view text) noexcept {
  uint32_t number = 0;
  const char* begin = text.data();
  const char* end = begin + text.size();
  const auto [at, fault] = std::from_chars(begin, end, number);
  const bool leading_zero = text.size() > 1 && text.front() == '0';
  if (fault != std::errc() || at != end || leading_zero) return std::nullopt;
  return number;
}

std::optional<CompactBody> parse_compact_body(std::string_view body) noexcept {
  const size_t first = body.find(':');
  const size_t second = first == std::string_view::npos ? first : body.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  return CompactBody{.type = parse_decimal(body.substr(0, first)).value_or(0),
                     .conversation = body.substr(first + 1, second - first - 1),
                     .payload = body.substr(second + 1)};
}

CompactSend parse_compact_send(std::string_view payload) noexcept {
  const size_t end = payload.find('\n');
  const std::string_view line = payload.substr(0, end);
  CompactSend send{
      .client_msg_id = line.substr(0, line.find(' ')), .ref = 0, .kind = name_of(ItemKind::text), .text = {}};
  if (end != std::string_view::npos) send.text = payload.substr(end + 1);
  if (send.client_msg_id.size() == line.size()) return send;
  const std::string_view more = line.substr(send.client_msg_id.size() + 1);
  const size_t ref_bytes = more.find(' ');
  send.ref = parse_decimal(more.substr(0, ref_bytes));
  if (ref_bytes != std::string_view::npos) send.kind = more.substr(ref_bytes + 1);
  return send;
}

size_t write_compact_head(std::span<char> out, ServerType type, std::string_view conversation,
                          size_t rest_bytes) noexcept {
  TAUT_ASSERT(out.size() >= kCompactHeadMax && conversation.size() <= kIdBytesMax);
  constexpr size_t kColonsAndBrace = 3;
  constexpr size_t kTypeDigits = 2;
  char* at = out.data() +
             write_netstring_length(out, kTypeDigits + conversation.size() + kColonsAndBrace + rest_bytes);
  at = std::to_chars(at, at + kTypeDigits, static_cast<uint32_t>(type)).ptr;
  *at++ = ':';
  at = std::ranges::copy(conversation, at).out;
  *at++ = ':';
  *at++ = '{';
  return static_cast<size_t>(at - out.data());
}

}  // namespace taut::wire
