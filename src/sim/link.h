// A client's end of one connection: bytes that wait to be sent, and those that came and are no whole frame.
#pragma once

#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/dice.h"

namespace taut::sim {

/// Where a server listens.
struct Address {
  sockaddr_un name{};
  uint32_t size = 0;
};

/// Owns the socket. Nothing travels but by a step: not delivering is delay, half a delivery cuts a frame
/// apart. One thread.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link() {
    cut();
    forget_half_open();
  }

  /// False: nobody listens, or the backlog is full.
  [[nodiscard]] bool connect(const Address& address);
  [[nodiscard]] bool connected() const { return fd_ >= 0; }
  /// Bytes that wait here.
  [[nodiscard]] bool has_more() const { return !up_.empty(); }

  void say(std::string_view frame) { up_.append(frame); }
  /// Sends at most so many bytes of what waits. True: some were taken.
  bool send_some(size_t most);
  /// Receives at most so many bytes. True: some came. At the end of the stream the link is cut.
  bool receive_some(size_t most);
  /// The bytes received and not taken yet.
  [[nodiscard]] std::string& received() { return down_; }

  /// Both ends learn of it.
  void cut();
  /// This end forgets the connection, the other hears nothing until forget_half_open().
  void half_open();
  void forget_half_open();

 private:
  int fd_ = -1;
  std::string up_;
  std::string down_;
  std::vector<int> silent_;  ///< half-open ones
};

}  // namespace taut::sim
