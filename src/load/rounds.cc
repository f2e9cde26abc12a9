#include "load/rounds.h"

#include "load/latency_report.h"
#include "load/pin.h"
#include "load/report_run.h"

namespace taut::load {

namespace {

Result<PhaseResult> drive(Rounds& rounds, double seconds) {
  SystemClock clock;
  PhaseResult phase;
  const int64_t begin_ns = clock.mono_ns();
  const auto duration_ns = static_cast<int64_t>(seconds * 1e9);
  while (phase.delivered_ns < duration_ns || !rounds.between_rounds()) {
    const int64_t now_ns = clock.mono_ns();
    if (Status s = rounds.turn(now_ns, phase); !s) return std::unexpected(s.error());
    phase.delivered_ns = now_ns - begin_ns;
  }
  return phase;
}

Result<ChatReport> run(const LoadOptions& options, Rounds& rounds) {
  if (Status s = pin_this_thread(options.cpu); !s) return std::unexpected(s.error());
  if (Status s = rounds.open(); !s) return std::unexpected(s.error());
  if (Result<PhaseResult> warmup = drive(rounds, options.warmup); !warmup)
    return std::unexpected(warmup.error());
  const Result<ServerMeter> meter = ServerMeter::begin(options.server_pid);
  if (!meter) return std::unexpected(meter.error());
  const int64_t own_before_ns = thread_cpu_ns();
  Result<PhaseResult> phase = drive(rounds, options.seconds);
  if (!phase) return std::unexpected(phase.error());
  ChatReport report;
  report.phase = std::move(*phase);
  report.client_cpu_ns = thread_cpu_ns() - own_before_ns;
  const Result<std::optional<ProcStats>> server = meter->end();
  if (!server) return std::unexpected(server.error());
  report.server = *server;
  return report;
}

}  // namespace

int run_rounds(const LoadOptions& options, Rounds& rounds, const char* command) {
  return report_run(run(options, rounds), options.json, command);
}

}  // namespace taut::load
