// WebSocket framing (RFC 6455) as a pure codec: bytes in a buffer of the caller's, messages out, no copy and
// no heap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "wire/chat_codes.h"
#include "wire/padding.h"

namespace taut::wire {

enum class WsOpcode : uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

/// Longest payload of a control frame.
inline constexpr size_t kWsControlBytesMax = 125;
/// Longest reason of a close frame: its payload without the code.
inline constexpr size_t kWsReasonBytesMax = kWsControlBytesMax - 2;
/// Longest header with and without a mask key.
inline constexpr size_t kWsMaskedHeaderMax = 14;
inline constexpr size_t kWsHeaderMax = 10;
/// What the caller may have to keep at most beside message_bytes_max: a whole masked control frame.
inline constexpr size_t kWsKeptBeyondMessageMax = 6 + kWsControlBytesMax;

/// What next() found. Views point into the caller's buffer and hold until it is moved or next() is called
/// again.
struct WsOutcome {
  enum class Kind : uint8_t {
    need_more,  ///< nothing complete; `wanted` says how much helps
    message,    ///< a whole text or binary message: `opcode`, `payload`
    control,    ///< a ping, pong or close frame: `opcode`, `payload`; for a close also `close_code`
    error,  ///< the peer broke the protocol: close with `close_code` and `reason`; next() must not be called
            ///< again
  };

  Kind kind = Kind::need_more;
  WsOpcode opcode = WsOpcode::text;
  bool deflated = false;  ///< message: the payload is compressed (wire/deflate.h)
  /// error: what to close with. A close frame: the peer's code (any number of RFC 6455, `none` when it gave
  /// none), to be echoed.
  CloseCode close_code = CloseCode::none;
  /// Bytes to drop from the front of the buffer now that this outcome has been dealt with. The payload may
  /// lie inside.
  size_t consumed = 0;
  /// need_more: next() finds nothing new before `in` holds this many bytes, counted after dropping
  /// `consumed`.
  size_t wanted = 0;
  /// message: unmasked, mutable, text NOT checked for UTF-8 (the JSON reader does, close with 1007 then). A
  /// ping or pong: its payload. A close: its reason, valid UTF-8.
  std::span<char> payload;
  std::string_view reason;  ///< error: a static text for the close frame

  [[nodiscard]] std::string_view text() const { return {payload.data(), payload.size()}; }
};

/// The receiving half of a connection. Plain data of 16 bytes: copy it to move the connection to another
/// thread.
///
/// The one rule for the caller, after every outcome: drop the first `consumed` bytes, and pass all the others
/// again, unchanged and contiguous, followed by whatever has arrived since. They may have been copied
/// elsewhere in between. Then, until need_more: call again.
///
/// A message in one frame that is wholly in the buffer is one call: unmasked in place, consumed = the frame.
/// Inside a fragmented message `consumed` may be 0 although a control frame was delivered (the decoder
/// remembers how far it is; the fragments so far stay at the front), and need_more may carry a `consumed` > 0
/// (headers squeezed out). What the caller keeps after need_more never exceeds message_bytes_max +
/// kWsKeptBeyondMessageMax.
///
/// Refused with 1002: RSV bits (but RSV1 at the beginning of a message, after allow_deflate()), unknown
/// opcodes, wrong masking, lengths not in their shortest form, control frames that are fragmented or longer
/// than 125, a continuation of nothing, a new message inside another, close payloads of 1 byte or with a code
/// that must not be on the wire. 1007: a close reason that is not UTF-8. 1009: more than message_bytes_max,
/// as soon as a header says so.
class WsDecoder {
 public:
  enum class Peer : uint8_t {
    client,  ///< frames must be masked: this end is the server
    server,  ///< frames must not be masked: this end is the client
  };

  explicit WsDecoder(Peer peer, uint32_t message_bytes_max = kChatFrameBytesMax)
      : message_bytes_max_(message_bytes_max), peer_(peer) {}

  /// permessage-deflate was agreed on: messages may be compressed from here on.
  void allow_deflate() { deflate_ = true; }
  [[nodiscard]] bool allows_deflate() const { return deflate_; }

  /// REQUIRES: kReadablePadding readable bytes behind `in`. Writes only inside `in`.
  [[nodiscard]] WsOutcome next(std::span<char> in) noexcept;

  /// True in the middle of a fragmented message.
  [[nodiscard]] bool in_message() const { return in_message_; }

 private:
  struct Header;

  WsOutcome finish_control(const Header& header, std::span<char> in) noexcept;
  bool finish_data(const Header& header, std::span<char> in, WsOutcome& outcome) noexcept;
  WsOutcome need_more(std::span<char> in, size_t frame_bytes) noexcept;

  uint32_t message_bytes_max_;
  uint32_t assembled_ = 0;  ///< bytes of earlier fragments, at the front of the buffer
  uint32_t raw_ = 0;        ///< where the first undecoded byte is; assembled_ ≤ raw_
  Peer peer_;
  WsOpcode opcode_ = WsOpcode::text;  ///< of the fragmented message
  bool in_message_ : 1 = false;
  bool deflated_ : 1 = false;  ///< the fragmented message
  bool deflate_ : 1 = false;   ///< agreed on
};
static_assert(sizeof(WsDecoder) <= 64 && std::is_trivially_copyable_v<WsDecoder>);

// -- the server's sending half: frames without a mask --

/// Size of the header in front of a payload: 2, 4 or 10 bytes.
[[nodiscard]] constexpr size_t ws_header_size(size_t payload_bytes) {
  return payload_bytes < 126 ? 2 : payload_bytes <= 0xFFFF ? 4 : 10;
}

/// Writes the header of a final frame, `deflated` if its payload is; the payload follows behind it. To put
/// one in front of a payload that is already in place, leave kWsHeaderMax bytes there and pass the
/// ws_header_size(n) bytes that end where the payload begins. Returns ws_header_size(payload_bytes).
/// REQUIRES: out holds that much; a control payload is ≤ kWsControlBytesMax.
size_t write_ws_header(std::span<char> out, WsOpcode opcode, size_t payload_bytes,
                       bool deflated = false) noexcept;

/// A whole ping or pong frame. Returns its size, 2 + payload. REQUIRES: out holds it; payload ≤
/// kWsControlBytesMax.
size_t write_ws_control(std::span<char> out, WsOpcode opcode, std::string_view payload) noexcept;

/// A whole close frame, its reason cut to kWsReasonBytesMax at a character boundary; without payload for
/// CloseCode::none. Returns its size. REQUIRES: out holds 2 + kWsControlBytesMax; the reason is UTF-8.
size_t write_ws_close(std::span<char> out, CloseCode code, std::string_view reason) noexcept;

}  // namespace taut::wire
