// A client's end of one connection: bytes that wait to be sent, and those that came and are no whole frame.
#pragma once

#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <optional>
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

enum class Direction : uint8_t { up, down };  ///< to the server, and from it

/// Owns the socket. Nothing travels but by a step: not delivering is delay, half a delivery cuts a frame
/// apart. One thread.
class Link {
 public:
  static constexpr size_t kAll = size_t{1} << 20;  ///< for send_some() and receive_some(): what there is

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
  /// This end forgets the connection, the other hears nothing.
  void half_open();
  void forget_half_open();
  /// From now on nothing gets through in this direction. What this end then cuts, the other one hears of only
  /// if its direction is the living one.
  void die(Direction direction);
  /// Some connection is dead in one direction or both, and the other end has not ended it yet.
  [[nodiscard]] bool is_dying();

 private:
  int fd_ = -1;
  std::optional<Direction> dead_;
  std::string up_;
  std::string down_;
  std::vector<int> silent_;  ///< half-open ones
};

}  // namespace taut::sim
