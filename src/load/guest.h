// A chat connection that never waits: it comes, goes and comes back in steps of a system call or two.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "load/protocol.h"

namespace taut::load {

/// One identity's connection to a taut server, driven from a loop that has something more urgent to do. A
/// connection that ends, or is refused, is `away` and may come again. One thread.
class Guest {
 public:
  enum class State : uint8_t { away, connecting, upgrading, entering, in };

  /// What one hear() found.
  struct Heard {
    uint32_t answers = 0;  ///< `ack` and `ok`
    uint32_t errors = 0;   ///< `error`
    uint32_t messages = 0;
  };

  /// `hello` is the whole object, token and all. `receive_buffer` bytes are asked of the kernel; 0: its own
  /// choice.
  Guest(Url url, std::string hello, int receive_buffer = 0)
      : url_(std::move(url)), hello_(std::move(hello)), receive_buffer_(receive_buffer) {}

  /// Takes over a connection that has been welcomed.
  void adopt(Connection connection);

  /// Of the connection; REQUIRES: not away.
  [[nodiscard]] int fd() const { return connection_.socket.fd(); }
  [[nodiscard]] State state() const { return state_; }
  /// One step towards `in`.
  void step();
  /// Sends whole frames. False: nothing was taken, because earlier ones still wait, or the guest is not in.
  [[nodiscard]] bool say(std::string_view frames);
  /// One read; pings are answered.
  Heard hear();
  /// Closes at once, whatever was going on.
  void leave();

 private:
  void dial();
  void upgrade();
  void await_upgrade();
  void flush();
  /// Appends what has arrived. False: nothing did.
  bool receive();

  Url url_;
  std::string hello_;
  int receive_buffer_;
  State state_ = State::away;
  Connection connection_;
  std::string unsent_;
};

}  // namespace taut::load
