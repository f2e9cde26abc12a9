// Closed-loop writers on one thread, an arm on another, rings between them: as shards and a committer are.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "journal_compare/arm.h"
#include "journal_compare/measured.h"

namespace taut::compare {

struct WritersOptions {
  uint32_t writers = 1;  ///< each waits for its record to be durable before it sends the next
  uint32_t payload_bytes = 200;
  double seconds = 1;
  double warmup_s = 0.2;
  int64_t think_ns_max = 0;  ///< and then so long at most, evenly drawn
  int committer_cpu = -1;    ///< -1: wherever
  int writers_cpu = -1;
};

/// A commit takes all that came during the last one. Both threads spin, so that no wake-up is measured.
/// Error: the arm's.
[[nodiscard]] Result<Measured> run_writers(Arm& arm, const WritersOptions& options);

/// Nanoseconds that a shard spends on building the mail of one record and putting it into the ring. Error: a
/// CPU that is not there.
[[nodiscard]] Result<double> mail_ns(const WritersOptions& options);

}  // namespace taut::compare
