#include "gateway/tracer.h"

#include <fmt/format.h>

namespace taut::gateway {

namespace {

/// Sampled messages that one turn can deliver without the list growing.
constexpr size_t kSampledReserve = 256;

}  // namespace

Tracer::Tracer(Clock& clock, GatewayMetrics& metrics, const Options& options)
    : clock_(clock), metrics_(metrics), options_(options) {
  sampled_.reserve(kSampledReserve);
  if (options_.record == 0) return;
  options_.sample_every = 1;
  record_.resize(options_.record);  // written here, so that no page faults later
}

void Tracer::begin(int64_t turn_ns) {
  current_ = Trace{.started_ns = turn_ns, .last_ns = turn_ns};
}

void Tracer::understood(bool is_message) {
  if (!is_message) {
    current_ = {};
    return;
  }
  current_.sampled = ++messages_ % options_.sample_every == 0;
  lap(Stage::parse);
}

void Tracer::resume(const Trace& trace, int64_t turn_ns) {
  current_ = trace;
  if (current_.started_ns != 0) leave_ring(current_, turn_ns);
}

void Tracer::leave_ring(Trace& trace, int64_t turn_ns) {
  if (trace.sampled) {
    stamp(trace, Stage::ring);
  } else {
    trace.lap(Stage::ring, turn_ns);
  }
}

void Tracer::leave() {
  if (current_.started_ns != 0 && !current_.sampled) current_.lap(Stage::turn, clock_.mono_ns());
}

void Tracer::stamp(Trace& trace, Stage stage) {
  if (options_.hook) options_.hook(stage);
  trace.lap(stage, clock_.mono_ns());
}

void Tracer::deliver(Trace trace, std::string_view conversation, bool from_ring, int64_t turn_ns) {
  if (from_ring) leave_ring(trace, turn_ns);
  SlowestBoard::Entry& delivered = trace.sampled ? sampled_.emplace_back() : oldest_;
  delivered = {.trace = trace, .conversation = chat::InlineId(conversation)};
}

void Tracer::begin_flush() {
  if (oldest_.trace.started_ns != 0) flush_began_ns_ = clock_.mono_ns();
}

void Tracer::end_flush() {
  if (oldest_.trace.started_ns != 0) {
    if (oldest_.trace.last_ns == oldest_.trace.started_ns) oldest_.trace.lap(Stage::turn, flush_began_ns_);
    finish(oldest_, clock_.mono_ns());
    oldest_.trace.started_ns = 0;
  }
  for (SlowestBoard::Entry& delivered : sampled_) {
    if (options_.hook) options_.hook(Stage::write);
    finish(delivered, clock_.mono_ns());
    const Trace& trace = delivered.trace;
    for (size_t i = 0; i < kStages; ++i) metrics_.stage_ns[i].record(trace.stage_ns[i]);
    metrics_.message_ns.record(trace.total_ns());
    if (!record_.empty()) record_[recorded_++ % record_.size()] = trace;
  }
  sampled_.clear();
}

void Tracer::finish(SlowestBoard::Entry& delivered, int64_t now_ns) {
  Trace& trace = delivered.trace;
  trace.lap(Stage::write, now_ns);
  if (metrics_.slowest.wants(trace.total_ns(), now_ns)) metrics_.slowest.add(trace, delivered.id(), now_ns);
}

void Tracer::print_record(uint32_t shard, std::string& out) const {
  const uint64_t first = recorded_ > record_.size() ? recorded_ - record_.size() : 0;
  for (uint64_t i = first; i < recorded_; ++i) {
    const Trace& trace = record_[i % record_.size()];
    out += fmt::format("{},{},{}", shard, trace.started_ns, trace.seq);
    for (const uint32_t ns : trace.stage_ns) out += fmt::format(",{}", ns);
    out += '\n';
  }
}

}  // namespace taut::gateway
