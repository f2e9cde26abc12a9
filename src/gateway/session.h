// One chat connection as the gateway knows it: bytes below, an identity above, and where it is in its life.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle.h"
#include "core/poller.h"
#include "core/timer_wheel.h"
#include "gateway/carrier.h"
#include "hub/endpoint.h"
#include "hub/liveness.h"
#include "net/connection.h"

namespace taut::gateway {

/// Lives in Sessions; its shard's thread only.
struct Session {
  /// In the order of a life.
  enum class Phase : uint8_t {
    proxy,    ///< waits for what a proxy says about it
    tls,      ///< agrees on keys
    http,     ///< waits for the request that opens the WebSocket; never on the compact carrier
    hello,    ///< frames may follow, the first of which says who it is
    open,     ///< attached to its endpoint
    closing,  ///< a goodbye is queued or written; what still arrives is ignored
    dead,     ///< descriptor closed; erased at the end of the turn
  };

  Session(Handle handle, net::ByteStream stream, const net::IpAddress& from, Carrier by,
          uint32_t frame_bytes_max)
      : self(handle),
        connection(std::move(stream), frame_bytes_max),
        client(from),
        carrier(by),
        phase(connection.stream().encrypted() ? Phase::tls : first_words()) {}

  Handle self;
  net::Connection connection;
  net::IpAddress client;  ///< as a trusted proxy says, else the peer
  Timer timer;
  hub::Liveness liveness;
  hub::Endpoint* endpoint = nullptr;  ///< phase open: never null
  std::string device;
  /// Ids of conversations whose live items wait, because their missed ones are still on the way.
  std::vector<std::string> held;
  /// Resume cursors whose next page waits until this connection's output has drained.
  std::vector<uint64_t> pages_waiting;
  std::vector<Handle> typing;       ///< conversations in which it has said that it types
  int64_t deadline_ns = 0;          ///< up to hello in running time; of the goodbye by the monotonic clock
  int64_t over_limit_since_ns = 0;  ///< since when the output is over the soft limit; 0: it is not
  uint32_t inflight = 0;            ///< sends on their way to another shard, not answered yet
  Carrier carrier;
  Phase phase;
  Interest interest = Interest::read;  ///< as the poller knows it
  bool handshake_due = false;          ///< in the list of handshakes that can go on
  bool touched = false;                ///< in a list of this turn's flush
  bool touched_first = false;          ///< in the list that is written first, because it got a push
  bool unfinished = false;             ///< has whole frames left that no event will announce
  bool waits_for_room = false;         ///< unfinished once more as soon as its output is below the soft limit
  bool deaf = false;                   ///< what it sends cannot be understood any more: thrown away unseen
  bool write_blocked = false;          ///< waits for the socket to take more
  bool read_paused = false;            ///< not read while its own output is over the soft limit
  bool leaving = false;                ///< to be handed over as soon as the current frame is done

  /// The phase in which its carrier begins.
  [[nodiscard]] Phase first_words() const {
    return carrier == Carrier::websocket ? Phase::http : Phase::hello;
  }
  /// Frames may follow: of a WebSocket, the 101 is queued or sent.
  [[nodiscard]] bool is_framed() const {
    return phase != Phase::proxy && phase != Phase::tls && phase != Phase::http;
  }
  [[nodiscard]] bool holds(std::string_view conversation) const {
    return std::ranges::find(held, conversation) != held.end();
  }
  void release(std::string_view conversation) {
    std::erase(held, conversation);
    if (held.empty()) held.shrink_to_fit();
  }
};

}  // namespace taut::gateway
