// The measuring loop: one busy-polling thread that sends every flow's messages and receives them, the same
// for every rival.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/histogram.h"
#include "base/result.h"
#include "load/arrivals.h"
#include "load/disturbance.h"
#include "load/protocol.h"
#include "load/stamp.h"

namespace taut::load {

/// How the flows are driven.
struct Pace {
  uint32_t rate = 0;      ///< open loop, messages per second over all flows; or
  uint32_t inflight = 0;  ///< closed loop, per flow: the next send follows a delivery
  ArrivalKind arrivals = ArrivalKind::even;
  uint64_t seed = 1;
  int64_t drain_ns = 0;    ///< after the last send, how long deliveries may take before they are lost
  uint32_t starve_us = 0;  ///< tests: stall the loop this long once a millisecond
};

/// What must not happen; each counts messages.
struct Faults {
  uint64_t unsent = 0;      ///< wanted by the schedule, and the client never came to it
  uint64_t lost = 0;        ///< sent, and not delivered within the drain time
  uint64_t unacked = 0;     ///< the same for acks, where every send has one
  uint64_t disordered = 0;  ///< not the next of its flow: lost before, doubled or overtaken
  uint64_t damaged = 0;     ///< stamp or end of the text not as sent
  uint64_t misrouted = 0;   ///< at a connection that is not its flow's receiver

  [[nodiscard]] bool any() const { return (unsent | lost | unacked | disordered | damaged | misrouted) != 0; }
};

/// One phase, from its first send until everything sent in it has been delivered. Durations in ns.
struct PhaseResult {
  uint64_t sent = 0;
  uint64_t delivered = 0;
  uint64_t acks = 0;
  int64_t sending_ns = 0;    ///< how long it went on sending
  int64_t delivered_ns = 0;  ///< from the start to the last delivery
  Histogram<> latency;       ///< intended send to the return of the recv that brought it
  Histogram<> lag;           ///< intended send to the moment the send was tried: the generator's own lateness
  Faults faults;
};

/// Drives a session. Owner thread only; the session and the protocol outlive it.
///
/// Open loop: a message is stamped with the time at which the schedule wanted it, however late it leaves, so
/// that neither a slow server nor a slow client hides waiting. Closed loop: with the time at which its
/// predecessor's delivery was received. The clock is read once after each recv, and all messages of that recv
/// have that time.
class PairClient {
 public:
  /// `disturbance`, if any, gets its steps between two looks at the connections, while no send is due within
  /// kDisturbGuardNs; it outlives the client, too. REQUIRES: open loop with a disturbance.
  PairClient(Session& session, const Protocol& protocol, const Pace& pace, Clock& clock,
             Disturbance* disturbance = nullptr);
  PairClient(const PairClient&) = delete;
  PairClient& operator=(const PairClient&) = delete;
  ~PairClient();

  /// About what one step of a disturbance takes. Less would make sends late; more would give the server time
  /// to deal with each step before the next message.
  static constexpr int64_t kDisturbGuardNs = 20'000;

  /// One phase of sending for `duration_ns`, then draining. Phases follow each other on the same session.
  /// Errors: a connection ended, the server broke the protocol or complained, or it stopped reading for so
  /// long that a flow's ring is full.
  [[nodiscard]] Result<PhaseResult> drive(int64_t duration_ns);

 private:
  struct Flow;
  struct Line;

  void begin_phase(int64_t duration_ns);
  [[nodiscard]] bool drained() const;
  void turn();
  void send_due();
  void send_message(uint32_t flow, int64_t intended_ns);
  void flush(Line& line);
  void flush_marked();
  void mark(Line& line);
  void receive(Line& line);
  [[nodiscard]] size_t take_frames(Line& line, std::span<char> bytes);
  void take_delivery(Line& line, std::string_view body);
  void disturb();
  void starve();
  void break_off(const std::string& why);

  const Protocol& protocol_;
  const Pace pace_;
  const uint32_t text_bytes_;
  Clock& clock_;
  Disturbance* const disturbance_;
  int epoll_ = -1;
  std::vector<Flow> flows_;
  std::vector<Line> lines_;
  std::vector<Line*> marked_;  // lines with output: new since the last flush, or left by the kernel
  std::vector<char> scratch_;

  // This phase.
  PhaseResult phase_;
  std::optional<Arrivals> schedule_;
  Arrival next_;
  int64_t begin_ns_ = 0;
  int64_t end_ns_ = 0;
  int64_t now_ns_ = 0;
  int64_t starve_next_ns_ = 0;
  bool sending_ = false;
  std::string broken_;  // why the run cannot go on
};

}  // namespace taut::load
