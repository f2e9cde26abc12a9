// Stamps messages on their way through one shard, and keeps what the stamps say.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "gateway/gateway_metrics.h"
#include "gateway/slowest.h"
#include "gateway/trace.h"

namespace taut::gateway {

/// One per shard, its thread only. Of one message in `sample_every` every stage is stamped; of the others
/// only the beginning, the ring and the end, so that a slow one is known whichever it was. That costs a look
/// at the clock where a message leaves for another shard, and two in a turn that writes. Per
/// turn the one of these that began first is kept, and if it is slow enough it goes on the board.
///
/// A message to several endpoints (the owner, the visitor's other windows) is followed to each of them.
///
/// A message is written when its turn's writes are done, whether or not its receiver's socket took all of it:
/// how long a client leaves bytes lying is not the server's time.
class Tracer {
 public:
  struct Options {
    uint32_t sample_every = 64;
    /// Messages whose traces are kept until the end, the latest ones; 0: none. Then every message is sampled.
    uint32_t record = 0;
    /// For tests: called at the end of every stage of a sampled message, before the clock is read.
    std::function<void(Stage)> hook;
  };

  Tracer(Clock& clock, GatewayMetrics& metrics, const Options& options);

  // -- where a message comes from --

  /// A frame has been found in the bytes of a turn that began at `turn_ns`.
  void begin(int64_t turn_ns);
  /// It has been understood. Only messages are followed and counted: where they alternate with other frames,
  /// as with the receipts of who reads along, every second frame might never be one.
  void understood(bool is_message);
  /// A request has come out of a ring in a turn that began at `turn_ns`.
  void resume(const Trace& trace, int64_t turn_ns);

  // -- on its way --

  [[nodiscard]] const Trace& current() const { return current_; }
  /// The current message has come to the end of `stage`.
  void lap(Stage stage) {
    if (current_.sampled) [[unlikely]]
      stamp(current_, stage);
  }
  /// It leaves for the ring to another shard.
  void leave();

  // -- where it goes to --

  /// Whether deliver() would keep it: nearly never, and then nothing of it needs to be copied.
  [[nodiscard]] bool wants(const Trace& trace) const {
    if (trace.started_ns == 0) return false;
    return trace.sampled || oldest_.trace.started_ns == 0 || trace.started_ns < oldest_.trace.started_ns;
  }
  /// It is in the queue of a receiver of this shard. `from_ring`: it came from another shard in a turn that
  /// began at `turn_ns`. REQUIRES: wants(trace).
  void deliver(Trace trace, std::string_view conversation, bool from_ring, int64_t turn_ns);
  /// The turn begins to write, and has written.
  void begin_flush();
  void end_flush();

  /// Traces recorded so far, the oldest first: "shard,started_ns,seq,parse_ns,…" lines.
  void print_record(uint32_t shard, std::string& out) const;

 private:
  void stamp(Trace& trace, Stage stage);
  /// It is out of the ring, in a turn that began at `turn_ns`.
  void leave_ring(Trace& trace, int64_t turn_ns);
  void finish(SlowestBoard::Entry& delivered, int64_t now_ns);

  Clock& clock_;
  GatewayMetrics& metrics_;
  Options options_;
  Trace current_;
  uint32_t messages_ = 0;
  std::vector<SlowestBoard::Entry> sampled_;  ///< delivered in this turn
  SlowestBoard::Entry oldest_;  ///< of this turn, among those that are not sampled; started_ns 0: none
  int64_t flush_began_ns_ = 0;
  std::vector<Trace> record_;
  uint64_t recorded_ = 0;
};

}  // namespace taut::gateway
