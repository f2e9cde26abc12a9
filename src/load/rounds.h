// Closed-loop runs that are no pairs: something begins, everybody concerned has it, and it begins again.
#pragma once

#include <cstdint>

#include "load/options.h"
#include "load/pair_client.h"

namespace taut::load {

/// What happens in a round. All calls come from the client's thread.
class Rounds {
 public:
  virtual ~Rounds() = default;

  /// Connects everything; blocks.
  [[nodiscard]] virtual Status open() = 0;
  /// One look at everything, without waiting. Each message that has arrived counts as sent and delivered in
  /// `phase`; a round that is complete records its latency. Error: it cannot go on.
  [[nodiscard]] virtual Status turn(int64_t now_ns, PhaseResult& phase) = 0;
  /// True where a phase may end: rounds that one pause would spoil end first.
  [[nodiscard]] virtual bool between_rounds() const { return true; }
};

/// Opens, warms up, measures and reports under the command's name; returns an exit code.
[[nodiscard]] int run_rounds(const LoadOptions& options, Rounds& rounds, const char* command);

}  // namespace taut::load
