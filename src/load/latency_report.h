// The result of a chat run: the numbers, whether they may be used, and how they are written.
#pragma once

#include <optional>
#include <string>

#include "load/options.h"
#include "load/pair_client.h"
#include "load/proc_stats.h"
#include "load/time_bill.h"

namespace taut::load {

/// What a disturbance did in the measured phase, in its own units, and the least that would have been one.
struct DisturbanceCount {
  uint64_t done = 0;
  double least = 0;
};

/// A measured phase and what it cost.
struct ChatReport {
  std::optional<LoadChatOptions> options;  ///< what was asked of pairs; nothing in a run without pairs
  PhaseResult phase;
  int64_t client_cpu_ns = 0;        ///< the client's thread
  std::optional<ProcStats> server;  ///< of --server-pid
  std::optional<StageTotals> bill;  ///< of the measured time; nothing when the server is no taut
  std::optional<DisturbanceCount> disturbance;
};

/// The generator may be late by this part of what it reports, at the 99th percentile, before the run is void.
inline constexpr double kLagShareMax = 0.2;

/// Why the numbers must not be used; empty when they may.
[[nodiscard]] std::string void_reason(const PhaseResult& phase);
[[nodiscard]] std::string void_reason(const ChatReport& report);

/// One JSON object, fields named with their units: docs/benchmarks.md.
[[nodiscard]] std::string to_json(const ChatReport& report);

/// A few lines for a person.
[[nodiscard]] std::string to_text(const ChatReport& report);

}  // namespace taut::load
