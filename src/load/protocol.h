// What the measuring loop needs to know of a rival's protocol: how to set up its connections, what a message
// looks like going out, and where one ends coming in.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "load/frame_ring.h"
#include "load/options.h"
#include "load/tcp_socket.h"

namespace taut::load {

enum class FrameKind : uint8_t {
  need_more,  ///< not yet a whole frame
  delivery,   ///< a message at its receiver
  ack,        ///< the server's answer to one send
  control,    ///< wants answer()
  other,      ///< nothing that the loop counts
  broken,     ///< cannot be followed, or the server says that something is wrong
};

/// The first frame of some bytes: `size` of them, its body inside.
struct Frame {
  FrameKind kind = FrameKind::need_more;
  uint32_t size = 0;
  uint32_t body_at = 0;
  uint32_t body_size = 0;
};

/// Readable bytes behind what is passed to next_frame().
inline constexpr size_t kFramePadding = 64;

struct Connection {
  TcpSocket socket;
  std::string received;  ///< bytes beyond what the set-up consumed; later the incomplete frame at the end
};

/// Messages from one connection to another. A connection sends for one flow at most; it may receive for many.
struct FlowPlan {
  uint32_t from = 0;  ///< indices into Session::connections
  uint32_t to = 0;
  FramePrototype frame;
};

struct Session {
  uint32_t text_bytes = 0;  ///< of each message's text, as blank_text() was asked for it
  std::vector<Connection> connections;
  std::vector<FlowPlan> flows;
};

/// One rival. All calls come from the client's thread; next_frame() is on the clock, does not allocate and
/// keeps no state between calls.
class Protocol {
 public:
  virtual ~Protocol() = default;

  /// Connects everything and leaves each flow ready for its first message. Blocks. The flow's index is what
  /// its stamps carry.
  [[nodiscard]] virtual Result<Session> open() = 0;
  /// Leaves nothing behind on the server that would disturb a later run, as far as the server still listens.
  virtual void close(Session& session) = 0;

  /// The first frame in `bytes`. REQUIRES: kFramePadding readable bytes behind it. May rewrite `bytes`.
  [[nodiscard]] virtual Frame next_frame(std::span<char> bytes) const noexcept = 0;
  /// What to send back for a control frame; empty for nothing.
  [[nodiscard]] virtual std::string answer(std::span<const char> frame) const = 0;
  /// True when every send is answered by one ack.
  [[nodiscard]] virtual bool acknowledges() const = 0;
};

/// The rival that the URL's scheme names. Errors: unknown scheme, options that it cannot honour.
[[nodiscard]] Result<std::unique_ptr<Protocol>> make_protocol(const LoadChatOptions& options);

}  // namespace taut::load
