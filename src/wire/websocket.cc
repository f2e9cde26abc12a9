#include "wire/websocket.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "wire/unmask.h"
#include "wire/utf8.h"

namespace taut::wire {
namespace {

constexpr uint8_t kFinBit = 0x80;
constexpr uint8_t kRsvBits = 0x70;
constexpr uint8_t kDeflatedBit = 0x40;  // RSV1
constexpr uint8_t kMaskBit = 0x80;
constexpr uint8_t kLength16 = 126;
constexpr uint8_t kLength64 = 127;

WsOutcome failure(CloseCode code, std::string_view reason) {
  WsOutcome outcome;
  outcome.kind = WsOutcome::Kind::error;
  outcome.close_code = code;
  outcome.reason = reason;
  return outcome;
}

bool is_control(WsOpcode opcode) {
  return static_cast<uint8_t>(opcode) >= 8;
}

/// Codes that may stand in a close frame: the registered ones, and 3000–4999 for libraries and programs.
bool may_be_sent(uint16_t code) {
  if (code >= 3000) return code <= 4999;
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014);
}

uint64_t big_endian(const char* at, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<uint8_t>(at[i]);
  return value;
}

}  // namespace

struct WsDecoder::Header {
  bool fin = false;
  bool deflated = false;
  WsOpcode opcode = WsOpcode::text;
  size_t size = 0;  ///< of the header itself
  uint32_t mask = 0;
  uint64_t payload_bytes = 0;

  /// From the first two bytes: everything but the extended length and the key. Nothing, or why they are
  /// refused.
  std::string_view read_start(const char* at, bool masked, bool deflate) {
    const auto first = static_cast<uint8_t>(at[0]);
    const auto second = static_cast<uint8_t>(at[1]);
    fin = (first & kFinBit) != 0;
    const uint8_t code = first & 0x0F;
    opcode = static_cast<WsOpcode>(code);
    const bool begins_message = opcode == WsOpcode::text || opcode == WsOpcode::binary;
    deflated = deflate && begins_message && (first & kDeflatedBit) != 0;
    if ((first & kRsvBits) != (deflated ? kDeflatedBit : 0)) return "reserved bits set";
    if (code > 2 && (code < 8 || code > 10)) return "unknown opcode";
    if (((second & kMaskBit) != 0) != masked) return masked ? "frame without a mask" : "frame with a mask";
    payload_bytes = second & 0x7F;
    if (is_control(opcode) && !fin) return "fragmented control frame";
    if (is_control(opcode) && payload_bytes > kWsControlBytesMax) return "control frame too long";
    const size_t extended = payload_bytes == kLength16 ? 2 : payload_bytes == kLength64 ? 8 : 0;
    size = 2 + extended + (masked ? 4 : 0);
    return {};
  }

  /// The rest, from a header that is wholly there.
  std::string_view read_rest(const char* at, bool masked) {
    if (payload_bytes == kLength16) {
      payload_bytes = big_endian(at + 2, 2);
      if (payload_bytes < kLength16) return "length not in its shortest form";
    } else if (payload_bytes == kLength64) {
      payload_bytes = big_endian(at + 2, 8);
      if (payload_bytes <= 0xFFFF) return "length not in its shortest form";
      if (payload_bytes >> 63 != 0) return "length above 2^63";
    }
    if (masked) std::memcpy(&mask, at + size - 4, 4);
    return {};
  }
};

WsOutcome WsDecoder::next(std::span<char> in) noexcept {
  TAUT_DCHECK(in.size() >= raw_);
  const bool masked = peer_ == Peer::client;
  for (;;) {  // ends: each round returns or moves raw_ on by a whole fragment
    const char* at = in.data() + raw_;
    const size_t have = in.size() - raw_;
    if (have < 2) return need_more(in, 2);

    Header header;
    if (const auto why = header.read_start(at, masked, deflate_); !why.empty())
      return failure(CloseCode::protocol, why);
    if (!is_control(header.opcode) && (header.opcode == WsOpcode::continuation) != in_message_) {
      return failure(CloseCode::protocol,
                     in_message_ ? "new message inside another" : "continuation of nothing");
    }
    if (have < header.size) return need_more(in, header.size);
    if (const auto why = header.read_rest(at, masked); !why.empty()) return failure(CloseCode::protocol, why);
    if (!is_control(header.opcode) && header.payload_bytes > message_bytes_max_ - assembled_) {
      return failure(CloseCode::too_big, "message too big");
    }
    const size_t frame_bytes = header.size + header.payload_bytes;
    if (have < frame_bytes) return need_more(in, frame_bytes);

    if (masked) unmask(in.subspan(raw_ + header.size, header.payload_bytes), header.mask);
    if (is_control(header.opcode)) return finish_control(header, in);
    WsOutcome outcome;
    if (finish_data(header, in, outcome)) return outcome;
  }
}

/// The fragments so far move up against the undecoded bytes, so that what is dropped is always at the front.
/// Once per call at most, however many fragments it saw: many tiny fragments do not become quadratic.
WsOutcome WsDecoder::need_more(std::span<char> in, size_t frame_bytes) noexcept {
  WsOutcome outcome;
  outcome.consumed = raw_ - assembled_;
  if (outcome.consumed != 0 && assembled_ != 0) {
    std::memmove(in.data() + outcome.consumed, in.data(), assembled_);
  }
  raw_ = assembled_;
  outcome.wanted = assembled_ + frame_bytes;
  return outcome;
}

WsOutcome WsDecoder::finish_control(const Header& header, std::span<char> in) noexcept {
  WsOutcome outcome;
  outcome.kind = WsOutcome::Kind::control;
  outcome.opcode = header.opcode;
  outcome.payload = in.subspan(raw_ + header.size, header.payload_bytes);
  const size_t frame_bytes = header.size + header.payload_bytes;
  if (in_message_) {
    raw_ += static_cast<uint32_t>(frame_bytes);  // the fragments in front must stay
  } else {
    outcome.consumed = frame_bytes;
  }
  if (header.opcode != WsOpcode::close || outcome.payload.empty()) return outcome;

  if (outcome.payload.size() == 1) return failure(CloseCode::protocol, "close payload of one byte");
  const auto code = static_cast<uint16_t>(big_endian(outcome.payload.data(), 2));
  if (!may_be_sent(code)) return failure(CloseCode::protocol, "close code not allowed on the wire");
  outcome.close_code = static_cast<CloseCode>(code);
  outcome.payload = outcome.payload.subspan(2);
  if (!validate_utf8(outcome.text())) return failure(CloseCode::broken_utf8, "close reason is not UTF-8");
  return outcome;
}

/// True when a message is complete and `outcome` holds it.
bool WsDecoder::finish_data(const Header& header, std::span<char> in, WsOutcome& outcome) noexcept {
  const auto payload = in.subspan(raw_ + header.size, header.payload_bytes);
  raw_ += static_cast<uint32_t>(header.size + header.payload_bytes);
  if (!in_message_) {
    opcode_ = header.opcode;
    deflated_ = header.deflated;
  }
  if (!in_message_ && header.fin) {
    outcome.payload = payload;
  } else {
    std::memmove(in.data() + assembled_, payload.data(), payload.size());
    assembled_ += static_cast<uint32_t>(payload.size());
    in_message_ = !header.fin;
    if (in_message_) return false;
    outcome.payload = in.first(assembled_);
  }
  outcome.kind = WsOutcome::Kind::message;
  outcome.opcode = opcode_;
  outcome.deflated = deflated_;
  outcome.consumed = raw_;
  raw_ = assembled_ = 0;
  return true;
}

size_t write_ws_header(std::span<char> out, WsOpcode opcode, size_t payload_bytes, bool deflated) noexcept {
  const size_t size = ws_header_size(payload_bytes);
  TAUT_ASSERT(out.size() >= size);
  TAUT_DCHECK(!is_control(opcode) || payload_bytes <= kWsControlBytesMax);
  out[0] = static_cast<char>(kFinBit | (deflated ? kDeflatedBit : 0) | static_cast<uint8_t>(opcode));
  if (size == 2) {
    out[1] = static_cast<char>(payload_bytes);
  } else if (size == 4) {
    out[1] = static_cast<char>(kLength16);
    const uint16_t length = __builtin_bswap16(static_cast<uint16_t>(payload_bytes));
    std::memcpy(out.data() + 2, &length, 2);
  } else {
    out[1] = static_cast<char>(kLength64);
    const uint64_t length = __builtin_bswap64(payload_bytes);
    std::memcpy(out.data() + 2, &length, 8);
  }
  return size;
}

size_t write_ws_control(std::span<char> out, WsOpcode opcode, std::string_view payload) noexcept {
  TAUT_ASSERT(payload.size() <= kWsControlBytesMax && out.size() >= 2 + payload.size());
  const size_t header = write_ws_header(out, opcode, payload.size());
  std::copy(payload.begin(), payload.end(), out.data() + header);
  return header + payload.size();
}

size_t write_ws_close(std::span<char> out, CloseCode code, std::string_view reason) noexcept {
  if (code == CloseCode::none) return write_ws_header(out, WsOpcode::close, 0);
  size_t cut = std::min(reason.size(), kWsReasonBytesMax);
  while (cut < reason.size() && cut > 0 && (reason[cut] & 0xC0) == 0x80) --cut;  // not inside a character
  TAUT_ASSERT(out.size() >= 4 + cut);
  const size_t header = write_ws_header(out, WsOpcode::close, 2 + cut);
  out[header] = static_cast<char>(static_cast<uint16_t>(code) >> 8);
  out[header + 1] = static_cast<char>(static_cast<uint16_t>(code));
  std::copy_n(reason.begin(), cut, out.data() + header + 2);
  return header + 2 + cut;
}

}  // namespace taut::wire
