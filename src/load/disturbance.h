// Somebody who behaves badly beside the measured pairs, driven by the measuring loop itself: where there are
// two cores, one for the server and one for the client, another process would make the client late.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "load/options.h"

namespace taut::load {

/// One kind of disturbance. All calls come from the client's thread.
class Disturbance {
 public:
  virtual ~Disturbance() = default;

  /// Connects what it needs. Blocks; called before the first step.
  [[nodiscard]] virtual Status begin() = 0;
  /// At most a few system calls, some 10 µs, none of which waits. Error: it cannot go on.
  [[nodiscard]] virtual Status step(int64_t now_ns) = 0;
  /// Closes what it opened on the server, as far as that listens.
  virtual void end() {}

  /// What it has done so far, in units of its own: messages, flaps, scrapes, returns, refusals.
  [[nodiscard]] uint64_t done() const { return done_; }
  /// With less than this a second it was no disturbance, and the run is void.
  [[nodiscard]] virtual double least_per_second() const = 0;

 protected:
  uint64_t done_ = 0;
};

/// Nothing for Disturb::none. Errors: options that do not go with it.
[[nodiscard]] Result<std::unique_ptr<Disturbance>> make_disturbance(const LoadChatOptions& options);

}  // namespace taut::load
