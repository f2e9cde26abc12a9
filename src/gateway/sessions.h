// All connections of one shard: reading, writing, limits, liveness and goodbyes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/slot_map.h"
#include "core/poller.h"
#include "core/shard.h"
#include "gateway/gateway_metrics.h"
#include "gateway/session.h"
#include "hub/block_return.h"
#include "hub/liveness.h"
#include "net/connection.h"
#include "wire/chat_codes.h"
#include "wire/deflate.h"

namespace taut::gateway {

/// What Sessions tells the layer that understands frames. All calls come while the session is valid; they may
/// close it (close() or drop()) or set `leaving`.
class SessionEvents {
 public:
  virtual ~SessionEvents() = default;
  /// Bytes of a connection in phase http; returns how many were understood. It may switch the phase to hello.
  virtual size_t on_http(Session& session, std::string_view bytes) = 0;
  /// One text frame, or body of the compact carrier; kReadablePadding readable bytes behind it.
  virtual void on_frame(Session& session, std::span<char> frame) = 0;
  /// The session asked to leave this shard: everything that it has not understood goes with it.
  virtual void on_leave(Session& session, net::ByteStream stream, std::string_view unread,
                        std::string unsent) = 0;
  /// An open session is gone; its endpoint pointer is still set.
  virtual void on_gone(Session& session) = 0;
  /// The output of a session fell below the soft limit again.
  virtual void on_drained(Session& session) = 0;
};

/// Limits per connection; times in nanoseconds of the monotonic clock, those of hello and pings in running
/// time.
struct SessionLimits {
  uint32_t frame_bytes_max = 0;
  uint32_t soft_limit_bytes = 0;
  uint32_t hard_limit_bytes = 0;
  int64_t slow_reader_ns = 0;
  int64_t hello_timeout_ns = 0;
  int64_t ping_ns = 0;
  bool deflate = false;  ///< WebSockets may agree on permessage-deflate
};

/// Owner thread only. Sessions stay at their address until the end of the turn in which they died.
class Sessions {
 public:
  /// Frames of one connection in one turn, and the bytes after which it gets no further compressed one; the
  /// rest waits for the next turn.
  static constexpr uint32_t kFramesPerTurn = 32;
  static constexpr uint32_t kInflatedBytesPerTurn = net::Scratch::kReadBytes;
  /// Connections that a turn lets take a step on their way in or finds gone, each of which costs as much as
  /// tens of messages. The others wait for the next turn, so that a storm of them lengthens no message's
  /// turn.
  static constexpr uint32_t kComingsAndGoingsPerTurn = 4;
  /// Time for a goodbye to be written and answered.
  static constexpr int64_t kGoodbyeNs = 2'000'000'000;

  static constexpr uint32_t kSessionTimer = 1;
  static constexpr uint32_t kTickTimer = 2;

  Sessions(Shard& shard, hub::BlockReturn& back, GatewayMetrics& metrics, const SessionLimits& limits);
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  ~Sessions();

  void set_events(SessionEvents& events) { events_ = &events; }

  /// A fresh connection in phase tls, http or hello; nullptr (and the descriptor closed) when it cannot be
  /// watched.
  Session* accept(net::ByteStream stream, const net::IpAddress& client, Carrier carrier);
  /// The same behind a proxy: it begins with the header of the PROXY protocol.
  void accept_announced(net::ByteStream stream, const net::IpAddress& proxy, Carrier carrier);
  /// A connection that comes from another shard in phase hello, with what that had not understood and not
  /// sent.
  void adopt(net::ByteStream stream, const net::IpAddress& client, Carrier carrier,
             const wire::WsDecoder& decoder, std::span<char> unread, std::string_view unsent);
  [[nodiscard]] Session* find(Handle handle) { return sessions_.find(handle); }
  [[nodiscard]] uint32_t size() const { return sessions_.size(); }

  /// The session is attached to its endpoint now: pings begin.
  void opened(Session& session, hub::Endpoint& endpoint);

  void on_event(const PollEvent& event);
  void on_timer(Timer& timer);

  // -- output --

  /// What compresses messages to this connection; nullptr unless that was agreed on.
  [[nodiscard]] wire::Deflater* deflater(Session& session) {
    return session.connection.decoder().allows_deflate() ? &*deflater_ : nullptr;
  }
  /// Call after putting something into connection.out(). Sessions with pushes are written before those with
  /// answers only.
  void touch(Session& session, bool push);
  /// Puts bytes as they are into the output; gives the session up when there is no memory for them.
  void write_raw(Session& session, std::string_view bytes);
  /// A close frame or `bye`, then the end. `retry_after_ms` goes with it unless 0. Any phase but dead;
  /// again: nothing.
  void close(Session& session, wire::CloseCode code, std::string_view reason, uint32_t retry_after_ms = 0);
  /// The end for lack of memory: with 4101, or without a word where not even that finds room. The client
  /// resumes.
  void give_up(Session& session);
  /// The end at once, without a word.
  void drop(Session& session);
  /// A goodbye to everybody; who is told when to come back is told times spread evenly over `spread_ms`.
  void close_all(wire::CloseCode code, std::string_view reason, uint32_t spread_ms);
  /// Writes everything that this turn produced and forgets the dead.
  void flush();

  // -- frames left over from earlier turns, and handshakes --

  [[nodiscard]] bool has_work() const { return !unfinished_.empty() || next_handshake_ < handshakes_.size(); }
  void continue_work();

  [[nodiscard]] bool over_soft_limit(const Session& session) const {
    return session.connection.out().pending_bytes() >= limits_.soft_limit_bytes;
  }
  /// Its reader has not taken all that was written for it: what may be left out is.
  [[nodiscard]] bool is_behind(const Session& session) const {
    return session.write_blocked || over_soft_limit(session);
  }

 private:
  /// Its frames wait until its output has drained. A goodbye waits for nothing.
  [[nodiscard]] bool is_held_up(const Session& session) const {
    return session.phase != Session::Phase::closing && over_soft_limit(session);
  }
  /// What it sends may hold a token or the admin key, and is wiped where it was read as soon as it has been.
  [[nodiscard]] static bool is_secret(const Session& session) {
    return session.phase == Session::Phase::http || session.phase == Session::Phase::hello;
  }
  /// Whether a connection that comes or goes is looked at in this turn.
  [[nodiscard]] bool has_its_turn() { return comings_and_goings_++ < kComingsAndGoingsPerTurn; }
  void read_proxy_header(Session& session);
  void await_handshake(Session& session);
  void continue_handshake();
  void take_handshake_step(Session& session);
  void read(Session& session, bool from_socket);
  void understand(Session& session, std::span<char> unread);
  void mark_unfinished(Session& session);
  void keep(Session& session, std::span<char> rest);
  void leave(Session& session, std::span<char> unread);

  // What the carriers do differently.

  /// Understands the first frame; false when there is no whole one, and nothing more to be found.
  [[nodiscard]] bool take_frame(Session& session, std::span<char> unread, size_t& consumed);
  [[nodiscard]] bool take_websocket_frame(Session& session, std::span<char> unread, size_t& consumed);
  [[nodiscard]] bool take_netstring(Session& session, std::span<char> unread, size_t& consumed);
  [[nodiscard]] bool take_deflated(Session& session, std::span<char> payload);
  void take_message(Session& session, std::span<char> message);
  void on_control(Session& session, const wire::WsOutcome& frame);
  void on_broken_framing(Session& session, wire::CloseCode code, std::string_view reason);
  /// These say false when there is no memory for it.
  [[nodiscard]] bool write_control(Session& session, wire::WsOpcode opcode, std::string_view payload);
  [[nodiscard]] bool write_ping(Session& session);
  [[nodiscard]] bool write_goodbye(Session& session, wire::CloseCode code, std::string_view reason,
                                   uint32_t retry_after_ms);

  void write(Session& session);
  void after_write(Session& session);
  void say_slow(Session& session);
  void finish_goodbye(Session& session);
  void update_interest(Session& session);
  void schedule(Session& session);
  [[nodiscard]] int64_t running_now_ns();
  void judge(Session& session);
  void bury(Session& session);

  Shard& shard_;
  hub::BlockReturn& back_;
  GatewayMetrics& metrics_;
  SessionLimits limits_;
  SessionEvents* events_ = nullptr;
  net::Scratch scratch_;
  std::optional<wire::Inflater> inflater_;  ///< with limits_.deflate
  std::optional<wire::Deflater> deflater_;
  uint32_t comings_and_goings_ = 0;  ///< in this turn
  uint32_t inflated_bytes_ = 0;      ///< by the connection whose turn it is
  SlotMap<Session> sessions_;
  hub::RunningClock running_;
  Timer tick_;
  std::vector<Session*> push_list_;
  std::vector<Session*> answer_list_;
  std::vector<Handle> unfinished_;
  std::vector<Handle> handshakes_;  ///< sessions whose handshake can go on, from next_handshake_ on
  size_t next_handshake_ = 0;
  std::vector<Session*> dead_;
};

}  // namespace taut::gateway
