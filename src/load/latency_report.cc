#include "load/latency_report.h"

#include <array>
#include <cstdio>
#include <string_view>

namespace taut::load {

namespace {

double microseconds(int64_t ns) {
  return static_cast<double>(ns) / 1e3;
}

std::string fixed(double value, int decimals) {
  std::array<char, 64> buffer;
  const int n = std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  return {buffer.data(), static_cast<size_t>(n)};
}

double per_message(int64_t total, const PhaseResult& phase) {
  return phase.delivered == 0 ? 0 : static_cast<double>(total) / static_cast<double>(phase.delivered);
}

double per_second(const PhaseResult& phase) {
  return phase.delivered_ns == 0
             ? 0
             : static_cast<double>(phase.delivered) * 1e9 / static_cast<double>(phase.delivered_ns);
}

// Names and values in order; strings are our own words or options, escaped all the same.
class JsonObject {
 public:
  void add(std::string_view name, double value, int decimals) { add_raw(name, fixed(value, decimals)); }
  void add(std::string_view name, uint64_t value) { add_raw(name, std::to_string(value)); }
  void add(std::string_view name, const JsonObject& value) { add_raw(name, value.text()); }
  void add(std::string_view name, bool value) { add_raw(name, value ? "true" : "false"); }
  void add(std::string_view name, std::string_view value) {
    std::string quoted = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    add_raw(name, quoted + "\"");
  }
  [[nodiscard]] std::string text() const { return "{" + fields_ + "}"; }

 private:
  void add_raw(std::string_view name, std::string_view value) {
    if (!fields_.empty()) fields_ += ',';
    fields_.append("\"").append(name).append("\":").append(value);
  }
  std::string fields_;
};

std::string_view direction_name(Direction direction) {
  switch (direction) {
    case Direction::visitor:
      return "visitor";
    case Direction::agent:
      return "agent";
    case Direction::both:
      return "both";
  }
  return "";
}

std::string_view arrivals_name(ArrivalKind kind) {
  switch (kind) {
    case ArrivalKind::even:
      return "even";
    case ArrivalKind::poisson:
      return "poisson";
    case ArrivalKind::bursts:
      return "bursts";
  }
  return "";
}

JsonObject settings(const LoadChatOptions& options) {
  JsonObject out;
  out.add("url", std::string_view(options.url));
  out.add("pairs", uint64_t{options.pairs});
  out.add("rate", uint64_t{options.rate});
  out.add("inflight", uint64_t{options.inflight});
  out.add("size", uint64_t{options.size});
  out.add("direction", direction_name(options.direction));
  out.add("arrivals", arrivals_name(options.arrivals));
  out.add("seed", options.seed);
  return out;
}

JsonObject percentiles(const Histogram<>& histogram) {
  JsonObject out;
  out.add("p50", microseconds(histogram.percentile_ns(50)), 3);
  out.add("p90", microseconds(histogram.percentile_ns(90)), 3);
  out.add("p99", microseconds(histogram.percentile_ns(99)), 3);
  out.add("p999", microseconds(histogram.percentile_ns(99.9)), 3);
  out.add("max", microseconds(histogram.max_ns()), 3);
  out.add("mean", histogram.mean_ns() / 1e3, 3);
  return out;
}

JsonObject faults(const Faults& f) {
  JsonObject out;
  out.add("unsent", f.unsent);
  out.add("lost", f.lost);
  out.add("unacked", f.unacked);
  out.add("disordered", f.disordered);
  out.add("damaged", f.damaged);
  out.add("misrouted", f.misrouted);
  return out;
}

JsonObject server(const ProcStats& stats, const PhaseResult& phase) {
  JsonObject out;
  out.add("cpu_us_per_msg", per_message(stats.cpu_ns, phase) / 1e3, 4);
  out.add("cpu_share",
          static_cast<double>(stats.cpu_ns) / static_cast<double>(std::max<int64_t>(phase.delivered_ns, 1)),
          4);
  out.add("voluntary_per_msg", per_message(stats.voluntary, phase), 4);
  out.add("involuntary_per_msg", per_message(stats.involuntary, phase), 4);
  return out;
}

double unexplained_us(const ChatReport& report) {
  return report.phase.latency.mean_ns() / 1e3 - report.bill->message_s / report.bill->messages * 1e6;
}

/// Mean microseconds a message.
JsonObject bill(const ChatReport& report) {
  JsonObject out;
  for (const auto& [stage, seconds] : report.bill->stage_s) {
    out.add(stage, seconds / report.bill->messages * 1e6, 3);
  }
  out.add("unexplained", unexplained_us(report), 3);
  return out;
}

bool has_bill(const ChatReport& report) {
  return report.bill && report.bill->messages > 0;
}

}  // namespace

std::string void_reason(const PhaseResult& phase) {
  if (phase.faults.any()) {
    return "messages are missing or wrong: " + faults(phase.faults).text();
  }
  if (phase.delivered == 0) return "nothing was sent";
  const int64_t lag_ns = phase.lag.percentile_ns(99);
  const int64_t latency_ns = phase.latency.percentile_ns(99);
  if (static_cast<double>(lag_ns) > kLagShareMax * static_cast<double>(latency_ns)) {
    return "the client was late itself: lag p99 " + fixed(microseconds(lag_ns), 1) + " us of latency p99 " +
           fixed(microseconds(latency_ns), 1) + " us";
  }
  return {};
}

std::string void_reason(const ChatReport& report) {
  const std::optional<DisturbanceCount>& disturbance = report.disturbance;
  std::string reason = void_reason(report.phase);
  if (!reason.empty() || !disturbance || static_cast<double>(disturbance->done) >= disturbance->least)
    return reason;
  return "the disturbance was none: " + std::to_string(disturbance->done) + " of at least " +
         fixed(disturbance->least, 0);
}

std::string to_json(const ChatReport& report) {
  const PhaseResult& phase = report.phase;
  const std::string reason = void_reason(report);
  JsonObject out;
  if (report.options) out.add("settings", settings(*report.options));
  out.add("void", !reason.empty());
  out.add("void_reason", std::string_view(reason));
  out.add("sent", phase.sent);
  out.add("delivered", phase.delivered);
  out.add("acks", phase.acks);
  out.add("seconds", static_cast<double>(phase.delivered_ns) / 1e9, 6);
  out.add("throughput_per_s", per_second(phase), 1);
  out.add("latency_us", percentiles(phase.latency));
  out.add("lag_us", percentiles(phase.lag));
  out.add("faults", faults(phase.faults));
  out.add("client_cpu_us_per_msg", per_message(report.client_cpu_ns, phase) / 1e3, 4);
  if (report.server) out.add("server", server(*report.server, phase));
  if (has_bill(report)) out.add("bill_us", bill(report));
  if (report.disturbance) out.add("disturbed", report.disturbance->done);
  return out.text() + "\n";
}

std::string to_text(const ChatReport& report) {
  const PhaseResult& phase = report.phase;
  const auto line = [](std::string_view name, const Histogram<>& h) {
    const auto at = [&](double percent) { return fixed(microseconds(h.percentile_ns(percent)), 1); };
    return std::string(name) + " p50 " + at(50) + "  p90 " + at(90) + "  p99 " + at(99) + "  p99.9 " +
           at(99.9) + "  max " + fixed(microseconds(h.max_ns()), 1) + "\n";
  };
  std::string out = "sent " + std::to_string(phase.sent) + "  delivered " + std::to_string(phase.delivered) +
                    "  acks " + std::to_string(phase.acks) + "  " + fixed(per_second(phase), 0) + "/s\n";
  out += line("latency us ", phase.latency);
  out += line("lag us     ", phase.lag);
  if (report.server) {
    out += "server      " + fixed(per_message(report.server->cpu_ns, phase) / 1e3, 2) +
           " us CPU a message, " + fixed(per_message(report.server->voluntary, phase), 3) +
           " voluntary and " + fixed(per_message(report.server->involuntary, phase), 3) +
           " involuntary switches\n";
  }
  if (report.disturbance) out += "disturbed   " + std::to_string(report.disturbance->done) + " times\n";
  if (has_bill(report)) {
    out += "time bill us";
    for (const auto& [stage, seconds] : report.bill->stage_s) {
      if (seconds > 0) out += " " + stage + " " + fixed(seconds / report.bill->messages * 1e6, 1);
    }
    out += "  not the server's: " + fixed(unexplained_us(report), 1) + " (kernels, wire, client)\n";
  }
  return out;
}

}  // namespace taut::load
