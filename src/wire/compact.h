// The bodies of the compact carrier, `type:conversation:payload` in a netstring: taking them apart, and the
// head that stands for the beginning of a JSON object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/identity.h"
#include "wire/chat_codes.h"
#include "wire/netstring.h"

namespace taut::wire {

/// A decimal number without sign or leading zero; nothing for anything else, or beyond 32 bits. Any thread.
[[nodiscard]] std::optional<uint32_t> parse_decimal(std::string_view text) noexcept;

/// Views of the body.
struct CompactBody {
  uint32_t type = 0;              ///< as said, whether the protocol has it or not; 0 when it is no number
  std::string_view conversation;  ///< not checked; empty where there is none
  std::string_view payload;
};

/// Nothing without two colons. Any thread.
[[nodiscard]] std::optional<CompactBody> parse_compact_body(std::string_view body) noexcept;

/// The payload of a send, `client_msg_id [SP ref [SP kind]] LF text`, nothing of it checked.
struct CompactSend {
  std::string_view client_msg_id;
  std::optional<uint32_t> ref;  ///< 0 when it is missing; nothing when it is no number
  std::string_view kind;        ///< "text" when it is missing
  std::optional<std::string_view> text;
};
[[nodiscard]] CompactSend parse_compact_send(std::string_view payload) noexcept;

/// The server's ping, whole; a client answers with a pong, whatever its payload.
inline constexpr std::string_view kCompactPing = R"(13:15::{"ref":0},)";
/// What somebody over the server's limit of connections is told: a bye, whole.
inline constexpr std::string_view kCompactTurnedAway =
    R"(53:49::{"code":4101,"reason":"too many connections now"},)";

/// Longest head: length, a type of two digits, conversation, their colons and the brace.
inline constexpr size_t kCompactHeadMax = kNetstringDigitsMax + 6 + kIdBytesMax;

/// Writes `length:type:conversation:{`, behind which the rest of the object follows, of rest_bytes with its
/// closing brace, and a comma. Returns its size. REQUIRES: out holds kCompactHeadMax bytes.
size_t write_compact_head(std::span<char> out, ServerType type, std::string_view conversation,
                          size_t rest_bytes) noexcept;

}  // namespace taut::wire
