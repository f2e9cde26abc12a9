// Which visitors must stay out and which must be let in, as far as the answers to orders say.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sim/oracle.h"
#include "sim/sim_clock.h"

namespace taut::sim {

/// Of all blocks in a simulation: some end by themselves.
inline constexpr uint32_t kBlockSecondsMax = 20;

/// An order takes effect at some time between its asking and its answer, and counts for both until the
/// answer has come; what was ordered before a crash and was not durable may be undone. So of each visitor
/// there is a time up to which it is blocked for sure, and one from which on it is not for sure. One thread.
class Blocks {
 public:
  /// Names an order that was asked for.
  struct Order {
    std::string visitor;
    uint64_t number = 0;
  };
  /// When somebody began to say hello.
  struct Moment {
    uint64_t orders = 0;
    int64_t mono_ns = 0;
  };

  /// Both outlive it.
  Blocks(Oracle& oracle, SimClock& clock) : oracle_(oracle), clock_(clock) {}

  /// 0 seconds: let in again.
  [[nodiscard]] Order asked(std::string_view visitor, uint32_t seconds);
  void answered(const Order& order);
  /// Everything that was asked has happened or never will, and is durable.
  void at_rest();
  /// The process has ended; no order is on its way any more.
  void ended(bool clean);
  void clock_jumped() { ++jumps_; }

  [[nodiscard]] Moment now() const { return {.orders = orders_, .mono_ns = clock_.mono_ns()}; }
  /// The visitor was let in; its hello was begun at `began`.
  void let_in(std::string_view visitor, const Moment& began) const;
  /// The visitor was refused as blocked.
  void kept_out(std::string_view visitor, const Moment& began) const;
  /// At rest the visitor has a connection.
  void has_connection(std::string_view visitor) const { let_in(visitor, now()); }

 private:
  /// By the clock that counts while the process lives, and by the one that counts over its end.
  struct End {
    int64_t mono_ns = 0;
    int64_t wall_ms = 0;
  };
  struct Bounds {
    End blocked_until;  ///< for sure
    End free_from;      ///< for sure
  };
  struct Pending {
    End asked;
    uint32_t seconds = 0;
    uint64_t jumps = 0;
    bool alone = false;  ///< no other order was on its way
  };
  struct Visitor {
    Bounds bounds;
    Bounds over_crash;   ///< of all states since the last durable one
    uint64_t since = 0;  ///< the order from whose answer on `bounds` hold
    std::map<uint64_t, Pending> pending;
  };

  [[nodiscard]] End end_in(uint32_t seconds) const;
  void widen(Visitor& visitor);

  Oracle& oracle_;
  SimClock& clock_;
  std::map<std::string, Visitor, std::less<>> visitors_;
  uint64_t orders_ = 0;  ///< askings and answers
  uint64_t jumps_ = 0;   ///< of the clock on the wall
};

}  // namespace taut::sim
