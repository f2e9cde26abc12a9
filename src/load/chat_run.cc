// `taut load chat`: set up, warm up, measure, report.
#include <cstdio>

#include "load/disturbance.h"
#include "load/options.h"
#include "load/pair_client.h"
#include "load/pin.h"
#include "load/protocol.h"
#include "load/report_run.h"

namespace taut::load {

namespace {

Status check(const LoadChatOptions& o) {
  if (o.pairs < 1 || o.pairs > kPairsMax) return fail("--pairs must be 1 to " + std::to_string(kPairsMax));
  if ((o.rate == 0) == (o.inflight == 0)) return fail("give exactly one of --rate and --inflight");
  if (o.rate > kRateMax) return fail("--rate must be at most " + std::to_string(kRateMax));
  if (o.inflight > kInflightMax) return fail("--inflight must be at most " + std::to_string(kInflightMax));
  if (o.arrivals == ArrivalKind::bursts && o.rate > kBurstRate)
    return fail("--arrivals bursts goes to --rate " + std::to_string(kBurstRate));
  if (o.size < kTextBytesMin || o.size > kTextBytesMax) {
    return fail("--size must be " + std::to_string(kTextBytesMin) + " to " + std::to_string(kTextBytesMax));
  }
  if (!(o.seconds > 0) || !(o.warmup >= 0))
    return fail("--seconds must be positive and --warmup not negative");
  return {};
}

// Long enough for a server that was stopped for a while, short enough to wait for when something is lost.
constexpr int64_t kDrainNs = 5'000'000'000;

// Beside the pairs' connections: standard ones, epoll, the secret file, /proc.
constexpr uint64_t kChatOtherDescriptors = 32;

int64_t nanoseconds(double seconds) {
  return static_cast<int64_t>(seconds * 1e9);
}

// The measured phase between two readings of the server.
Result<ChatReport> measure(const LoadChatOptions& options, PairClient& client,
                           const Disturbance* disturbance) {
  ChatReport report;
  report.options = options;
  const std::optional<StageTotals> stages_before = read_stage_totals(options.url);
  const Result<ServerMeter> meter = ServerMeter::begin(options.server_pid);
  if (!meter) return std::unexpected(meter.error());
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
  const Result<std::optional<ProcStats>> server = meter->end();
  if (!server) return std::unexpected(server.error());
  report.server = *server;
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
  if (Status allowed = allow_descriptors(uint64_t{2} * options.pairs + kChatOtherDescriptors); !allowed)
    return std::unexpected(allowed.error());
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

}  // namespace

int run_load_chat(const LoadChatOptions& options) {
  const Result<Understood> understood = understand(options);
  if (!understood) {
    std::fprintf(stderr, "taut load chat: %s\n", understood.error().message.c_str());
    return kExitUsage;
  }
  const Result<ChatReport> report = run(options, *understood->protocol, understood->disturbance.get());
  return report_run(report, options.json, "taut load chat");
}

}  // namespace taut::load
