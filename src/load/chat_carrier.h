// What the carriers of taut's chat protocol do differently, for a client that measures. Objects go in and out
// as the JSON of a WebSocket, whatever carries them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "load/protocol.h"

namespace taut::load {

/// Stateless; any thread. next_frame() and answer() as in Protocol.
class ChatCarrier {
 public:
  virtual ~ChatCarrier() = default;

  /// Connected, blocking, and ready for the hello. `refused_for_now`: the error may pass.
  [[nodiscard]] virtual Result<Connection> connect(const Url& url, bool& refused_for_now) const = 0;
  /// A request as it goes on the wire; no send.
  [[nodiscard]] virtual std::string request(std::string_view object) const = 0;
  /// The next object, blocking; pings are answered on the way. Error: a goodbye, or silence.
  [[nodiscard]] virtual Result<std::string> receive_object(Connection& connection) const = 0;

  /// A send of blank_text(text_bytes), to be stamped.
  [[nodiscard]] virtual FramePrototype stamped_send(const std::string& conversation,
                                                    uint32_t text_bytes) const = 0;
  [[nodiscard]] virtual Frame next_frame(std::span<char> bytes) const noexcept = 0;
  [[nodiscard]] virtual std::string answer(std::span<const char> frame) const = 0;
  /// What a client that leaves says last; may be nothing.
  [[nodiscard]] virtual std::string goodbye() const = 0;
};

/// The compact one for tcp://, else WebSocket.
[[nodiscard]] const ChatCarrier& chat_carrier(const Url& url);

/// The two.
[[nodiscard]] const ChatCarrier& websocket_carrier();
[[nodiscard]] const ChatCarrier& compact_carrier();

}  // namespace taut::load
