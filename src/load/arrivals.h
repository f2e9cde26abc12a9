// When each message of an open-loop run is meant to be sent, and on which flow.
#pragma once

#include <cstdint>
#include <random>

#include "load/options.h"

namespace taut::load {

/// One intended send.
struct Arrival {
  int64_t at_ns = 0;  ///< since the start of the phase
  uint32_t flow = 0;
};

/// An endless schedule, fixed by its arguments: nothing that the server or the client does moves it. Even
/// arrivals, and bursts, take the flows in turn and never drift; Poisson arrivals pick the gap and the flow
/// at random. One thread.
class Arrivals {
 public:
  /// REQUIRES: per_second and flows > 0; with bursts, per_second is at most kBurstRate.
  Arrivals(ArrivalKind kind, double per_second, uint32_t flows, uint64_t seed);

  /// The times never go back.
  [[nodiscard]] Arrival next();

 private:
  const ArrivalKind kind_;
  const double gap_ns_;
  const uint32_t flows_;
  uint64_t count_ = 0;
  double poisson_at_ns_ = 0;
  std::mt19937_64 random_;
};

}  // namespace taut::load
