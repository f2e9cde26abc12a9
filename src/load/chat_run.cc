// `taut load chat`: set up, warm up, measure, report.
#include <cstdio>
#include <fstream>

#include "load/disturbance.h"
#include "load/latency_report.h"
#include "load/options.h"
#include "load/pair_client.h"
#include "load/pin.h"
#include "load/proc_stats.h"
#include "load/protocol.h"

namespace taut::load {

namespace {

Status check(const LoadChatOptions& o) {
  if (o.pairs < 1 || o.pairs > kPairsMax) return fail("--pairs must be 1 to " + std::to_string(kPairsMax));
  if ((o.rate == 0) == (o.inflight == 0)) return fail("give exactly one of --rate and --inflight");
  if (o.rate > kRateMax) return fail("--rate must be at most " + std::to_string(kRateMax));
  if (o.inflight > kInflightMax) return fail("--inflight must be at most " + std::to_string(kInflightMax));
  if (o.size < kTextBytesMin || o.size > kTextBytesMax) {
    return fail("--size must be " + std::to_string(kTextBytesMin) + " to " + std::to_string(kTextBytesMax));
  }
  if (!(o.seconds > 0) || !(o.warmup >= 0))
    return fail("--seconds must be positive and --warmup not negative");
  return {};
}

// Long enough for a server that was stopped for a while, short enough to wait for when something is lost.
constexpr int64_t kDrainNs = 5'000'000'000;

int64_t nanoseconds(double seconds) {
  return static_cast<int64_t>(seconds * 1e9);
}

// The measured phase between two readings of the server. Both are taken while nothing is in flight: reading
// /proc stalls the client for longer than a message takes.
Result<ChatReport> measure(const LoadChatOptions& options, PairClient& client,
                           const Disturbance* disturbance) {
  ChatReport report;
  report.options = options;
  const std::optional<StageTotals> stages_before = read_stage_totals(options.url);
  Result<ProcStats> before = ProcStats{};
  if (options.server_pid != 0) before = read_proc_stats(options.server_pid);
  if (!before) return std::unexpected(before.error());
  const int64_t own_before_ns = thread_cpu_ns();
  const uint64_t disturbed_before = disturbance != nullptr ? disturbance->done() : 0;
  Result<PhaseResult> phase = client.drive(nanoseconds(options.seconds));
  if (!phase) return std::unexpected(phase.error());
  report.phase = std::move(*phase);
  report.client_cpu_ns = thread_cpu_ns() - own_before_ns;
  if (disturbance != nullptr) {
    report.disturbance = DisturbanceCount{.done = disturbance->done() - disturbed_before,
                                          .least = disturbance->least_per_second() * options.seconds};
  }
  if (options.server_pid != 0) {
    const Result<ProcStats> after = read_proc_stats(options.server_pid);
    if (!after) return std::unexpected(after.error());
    report.server = *after - *before;
  }
  if (stages_before) {
    const std::optional<StageTotals> stages_after = read_stage_totals(options.url);
    if (stages_after) report.bill = *stages_after - *stages_before;
  }
  return report;
}

struct Understood {
  std::unique_ptr<Protocol> protocol;
  std::unique_ptr<Disturbance> disturbance;  // may be none
};

/// What the options say, understood; nothing is connected yet, so an error is one of usage.
Result<Understood> understand(const LoadChatOptions& options) {
  if (Status checked = check(options); !checked) return std::unexpected(checked.error());
  Result<std::unique_ptr<Protocol>> protocol = make_protocol(options);
  if (!protocol) return std::unexpected(protocol.error());
  Result<std::unique_ptr<Disturbance>> disturbance = make_disturbance(options);
  if (!disturbance) return std::unexpected(disturbance.error());
  return Understood{std::move(*protocol), std::move(*disturbance)};
}

Result<ChatReport> run(const LoadChatOptions& options, Protocol& protocol, Disturbance* disturbance) {
  if (Status pinned = pin_this_thread(options.cpu); !pinned) return std::unexpected(pinned.error());
  Result<Session> session = protocol.open();
  if (!session) return std::unexpected(session.error());

  if (disturbance != nullptr) {
    if (Status begun = disturbance->begin(); !begun) return std::unexpected(begun.error());
  }
  SystemClock clock;
  const Pace pace{.rate = options.rate,
                  .inflight = options.inflight,
                  .arrivals = options.arrivals,
                  .seed = options.seed,
                  .drain_ns = kDrainNs,
                  .starve_us = options.starve_us};
  PairClient client(*session, protocol, pace, clock, disturbance);
  Result<ChatReport> report = fail("");
  Result<PhaseResult> warmup = client.drive(nanoseconds(options.warmup));
  if (!warmup) {
    report = std::unexpected(warmup.error());
  } else if (warmup->faults
                 .any()) {  // reported as the run's result: what was lost early must not be forgotten
    report = ChatReport();
    report->options = options;
    report->phase = std::move(*warmup);
  } else {
    report = measure(options, client, disturbance);
  }
  if (disturbance != nullptr) disturbance->end();
  protocol.close(*session);
  return report;
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::trunc);
  out << text;
  out.flush();
  return out ? Status() : Status(fail("cannot write " + path));
}

}  // namespace

int run_load_chat(const LoadChatOptions& options) {
  const Result<Understood> understood = understand(options);
  if (!understood) {
    std::fprintf(stderr, "taut load chat: %s\n", understood.error().message.c_str());
    return kExitUsage;
  }
  const Result<ChatReport> report = run(options, *understood->protocol, understood->disturbance.get());
  Status status = report ? Status() : Status(std::unexpected(report.error()));
  if (status && !options.json.empty()) status = write_file(options.json, to_json(*report));
  if (!status) {
    std::fprintf(stderr, "taut load chat: %s\n", status.error().message.c_str());
    return kExitFailed;
  }
  std::fputs(to_text(*report).c_str(), stdout);
  const std::string reason = void_reason(*report);
  if (reason.empty()) return kExitOk;
  std::fprintf(stderr, "taut load chat: void: %s\n", reason.c_str());
  return kExitVoid;
}

}  // namespace taut::load
