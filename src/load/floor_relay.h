// A bare relay between pairs of connections: the least work that any gateway must do, and so its floor.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "load/options.h"

namespace taut::load {

/// Copies the bytes of each pair's sender to its receiver (protocol_relay.h), one recv and one send per
/// readiness: no parsing, no routing beyond the pair, no queue while the receiver keeps up. With `ack` it
/// also walks the length prefixes and answers each message with kRelayAckBytes, all acks of one read in one
/// send, after the delivery. `epoll` sleeps in epoll_wait, `spin` asks it again and again. One thread, but
/// for stop().
///
/// A receiver that does not keep up stops its sender: bytes the kernel did not take (at most one read's
/// worth) wait here and nothing more is read until they have left.
class FloorRelay {
 public:
  explicit FloorRelay(const FloorOptions& options);
  FloorRelay(const FloorRelay&) = delete;
  FloorRelay& operator=(const FloorRelay&) = delete;
  ~FloorRelay();

  /// Opens the listening socket; the result is the port that it has.
  [[nodiscard]] Result<uint16_t> listen();
  /// Relays until stop(). REQUIRES: listen() succeeded.
  void run();
  /// Any thread, also a signal handler.
  void stop() noexcept;

 private:
  struct Peer;

  void accept_all();
  void on_ready(Peer& peer, uint32_t events);
  [[nodiscard]] bool greet(Peer& peer);
  [[nodiscard]] bool join(Peer& peer, std::string_view line);
  [[nodiscard]] bool relay(Peer& sender);
  [[nodiscard]] bool acknowledge(Peer& sender, std::string_view received);
  [[nodiscard]] bool send(Peer& to, std::string_view bytes);
  [[nodiscard]] bool flush(Peer& peer);
  void watch(Peer& peer);
  void close(Peer& peer);

  const FloorOptions options_;
  int listener_ = -1;
  int epoll_ = -1;
  int stop_event_ = -1;
  bool stopping_ = false;
  std::vector<char> scratch_;
  std::string acks_;                               // as many as fit into one send, built once
  std::vector<std::unique_ptr<Peer>> peers_;       // by descriptor
  std::unordered_map<uint32_t, Peer*> receivers_;  // by pair
};

}  // namespace taut::load
