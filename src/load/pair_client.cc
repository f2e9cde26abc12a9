#include "load/pair_client.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/assert.h"

namespace taut::load {

namespace {

constexpr size_t kPairReadBytes = size_t{256} * 1024;
// Largest incomplete frame that may wait for its end: the largest text, every byte escaped, and its envelope.
constexpr size_t kFrameBytesMax = 6 * size_t{kTextBytesMax} + 4096;
// Readiness per look: small enough that a due send waits for one recv at most, large enough to be cheap at
// saturation.
constexpr int kPairEventsPerTurn = 64;
// Open loop: frames per flow that may wait for a server that does not read, beyond what the kernel buffers.
constexpr uint32_t kWaitingBytesMax = 256 * 1024;
constexpr uint32_t kWaitingFramesMin = 8;
constexpr int64_t kStarveEveryNs = 1'000'000;

uint32_t ring_capacity(const Pace& pace, const FramePrototype& frame) {
  if (pace.inflight != 0) return pace.inflight;
  return std::max(kWaitingFramesMin, kWaitingBytesMax / static_cast<uint32_t>(frame.bytes.size()));
}

}  // namespace

// Messages from one line to another.
struct PairClient::Flow {
  Line* from;
  Line* to;
  uint32_t next_sequence = 0;
  uint32_t expected = 0;  // the next sequence at the receiver
};

// One connection: what waits to leave on it, and the incomplete frame at the end of what came.
struct PairClient::Line {
  const TcpSocket* socket;
  std::string received;
  std::string control;            // answers to control frames, sent between two messages
  std::optional<FrameRing> ring;  // of the flow that sends here
  StampFinder finder;
  bool marked = false;
  bool messages_blocked = false;  // the kernel was full when it was offered messages: TLS wants those again

  // Output in order: what must not be torn apart first, then control, then messages.
  [[nodiscard]] bool control_next() const {
    return !control.empty() && !messages_blocked && !(ring && ring->mid_frame());
  }
};

PairClient::PairClient(Session& session, const Protocol& protocol, const Pace& pace, Clock& clock,
                       Disturbance* disturbance)
    : protocol_(protocol),
      pace_(pace),
      text_bytes_(session.text_bytes),
      clock_(clock),
      disturbance_(disturbance),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      scratch_(kFrameBytesMax + kPairReadBytes + kFramePadding) {
  TAUT_ASSERT(epoll_ >= 0);
  TAUT_ASSERT((pace.rate == 0) != (pace.inflight == 0));
  TAUT_ASSERT(disturbance == nullptr || pace.rate != 0);
  lines_.reserve(session.connections.size());  // flows and epoll keep pointers to lines
  for (Connection& connection : session.connections) {
    connection.socket.set_blocking(false);
    Line& line = lines_.emplace_back();
    line.socket = &connection.socket;
    line.received = std::move(connection.received);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &line}};
    TAUT_ASSERT(::epoll_ctl(epoll_, EPOLL_CTL_ADD, line.socket->fd(), &event) == 0);
  }
  for (const FlowPlan& plan : session.flows) {
    Line& from = lines_[plan.from];
    TAUT_ASSERT(!from.ring.has_value());
    from.ring.emplace(plan.frame, ring_capacity(pace, plan.frame));
    flows_.push_back({.from = &from, .to = &lines_[plan.to]});
  }
  marked_.reserve(lines_.size());
}

PairClient::~PairClient() {
  ::close(epoll_);
}

Result<PhaseResult> PairClient::drive(int64_t duration_ns) {
  begin_phase(duration_ns);
  if (pace_.inflight != 0) {
    for (uint32_t i = 0; i < pace_.inflight; ++i) {
      for (uint32_t flow = 0; flow < flows_.size(); ++flow) send_message(flow, now_ns_);
    }
  }
  while (broken_.empty()) {
    now_ns_ = clock_.mono_ns();
    if (pace_.inflight != 0) sending_ = now_ns_ < end_ns_;
    if (sending_) phase_.sending_ns = now_ns_ - begin_ns_;
    if (!sending_ && drained()) break;
    if (now_ns_ > end_ns_ + pace_.drain_ns) break;
    turn();
  }
  if (!broken_.empty()) return fail(broken_);
  for (; sending_ && begin_ns_ + next_.at_ns < end_ns_; next_ = schedule_->next()) ++phase_.faults.unsent;
  phase_.faults.lost = phase_.sent - std::min(phase_.delivered, phase_.sent);
  if (protocol_.acknowledges()) phase_.faults.unacked = phase_.sent - std::min(phase_.acks, phase_.sent);
  return std::move(phase_);
}

void PairClient::begin_phase(int64_t duration_ns) {
  phase_ = PhaseResult();
  sending_ = true;
  begin_ns_ = now_ns_ = starve_next_ns_ = clock_.mono_ns();
  end_ns_ = begin_ns_ + duration_ns;
  if (pace_.rate != 0) {
    schedule_.emplace(pace_.arrivals, pace_.rate, static_cast<uint32_t>(flows_.size()), pace_.seed);
    next_ = schedule_->next();
  }
}

bool PairClient::drained() const {
  return phase_.delivered >= phase_.sent && (!protocol_.acknowledges() || phase_.acks >= phase_.sent);
}

void PairClient::turn() {
  std::array<epoll_event, kPairEventsPerTurn> events;
  const int ready = ::epoll_wait(epoll_, events.data(), kPairEventsPerTurn, 0);
  for (int i = 0; i < ready; ++i) {
    receive(*static_cast<Line*>(events[i].data.ptr));
    send_due();
  }
  send_due();
  flush_marked();
  disturb();
  starve();
}

// At most one message, so that neither sending nor receiving waits long for the other.
void PairClient::send_due() {
  if (!schedule_ || !sending_) return;
  now_ns_ = clock_.mono_ns();
  const int64_t intended_ns = begin_ns_ + next_.at_ns;
  if (intended_ns >= end_ns_) {
    sending_ = false;
    return;
  }
  if (intended_ns > now_ns_) return;
  phase_.lag.record(now_ns_ - intended_ns);
  send_message(next_.flow, intended_ns);
  next_ = schedule_->next();
}

void PairClient::send_message(uint32_t flow_index, int64_t intended_ns) {
  Flow& flow = flows_[flow_index];
  FrameRing& ring = *flow.from->ring;
  if (ring.full()) return break_off("the server does not read as fast as this rate sends");
  const bool blocked = !ring.empty();
  ring.push({.flow = flow_index, .sequence = flow.next_sequence++, .intended_ns = intended_ns});
  ++phase_.sent;
  // Open loop: at once. Closed loop: when all deliveries of this recv have had their answer, in one send.
  if (schedule_ && !blocked) {
    flush(*flow.from);
  } else {
    mark(*flow.from);
  }
}

void PairClient::mark(Line& line) {
  if (line.marked) return;
  line.marked = true;
  marked_.push_back(&line);
}

void PairClient::flush_marked() {
  const size_t count = marked_.size();
  for (size_t i = 0; i < count; ++i) {
    marked_[i]->marked = false;
    flush(*marked_[i]);  // marks it again, behind the others, when the kernel is full
  }
  marked_.erase(marked_.begin(), marked_.begin() + static_cast<ptrdiff_t>(count));
}

void PairClient::flush(Line& line) {
  while (true) {
    const bool control = line.control_next();
    const std::span<const char> bytes = control     ? std::span<const char>(line.control)
                                        : line.ring ? line.ring->unsent()
                                                    : std::span<const char>();
    if (bytes.empty()) return;
    const ssize_t n = line.socket->send({bytes.data(), bytes.size()});
    line.messages_blocked = n < 0 && !control;
    if (n < 0 && errno == EAGAIN) return mark(line);
    if (n < 0) return break_off(std::string("send: ") + std::strerror(errno));
    if (control) {
      line.control.erase(0, static_cast<size_t>(n));
    } else {
      line.ring->sent(static_cast<size_t>(n));
    }
  }
}

void PairClient::receive(Line& line) {
  const size_t kept = line.received.size();
  std::memcpy(scratch_.data(), line.received.data(), kept);
  const ssize_t n = line.socket->receive({scratch_.data() + kept, kPairReadBytes});
  now_ns_ = clock_.mono_ns();
  if (n < 0 && errno == EAGAIN) return;
  if (n < 0) return break_off(std::string("recv: ") + std::strerror(errno));
  if (n == 0) return break_off("the server closed a connection");
  const size_t size = kept + static_cast<size_t>(n);
  const size_t used = take_frames(line, {scratch_.data(), size});
  if (size - used > kFrameBytesMax) return break_off("the server sends a frame that is too long");
  line.received.assign(scratch_.data() + used, size - used);
  flush_marked();
}

size_t PairClient::take_frames(Line& line, std::span<char> bytes) {
  size_t used = 0;
  while (true) {
    const std::span<char> rest = bytes.subspan(used);
    const Frame frame = protocol_.next_frame(rest);
    switch (frame.kind) {
      case FrameKind::need_more:
        return used;
      case FrameKind::delivery:
        take_delivery(line, {rest.data() + frame.body_at, frame.body_size});
        break;
      case FrameKind::ack:
        ++phase_.acks;
        break;
      case FrameKind::control:
        line.control += protocol_.answer(rest.first(frame.size));
        mark(line);
        break;
      case FrameKind::other:
        break;
      case FrameKind::broken:
        break_off("the server says: " + std::string(rest.data(), std::min<size_t>(rest.size(), 200)));
        return used;
    }
    used += frame.size;
  }
}

void PairClient::take_delivery(Line& line, std::string_view body) {
  ++phase_.delivered;
  phase_.delivered_ns = now_ns_ - begin_ns_;
  const size_t at = line.finder.find(body);
  const std::optional<Stamp> stamp =
      at == std::string_view::npos ? std::nullopt : read_stamp(body.substr(at));
  const bool whole = stamp && stamp->flow < flows_.size() && body.size() >= at + text_bytes_ &&
                     body.substr(0, at + text_bytes_).ends_with(kTextEnd);
  if (!whole) {
    ++phase_.faults.damaged;
    return;
  }
  Flow& flow = flows_[stamp->flow];
  phase_.faults.misrouted += flow.to != &line;
  phase_.faults.disordered += stamp->sequence != flow.expected;
  flow.expected = stamp->sequence + 1;
  phase_.latency.record(now_ns_ - stamp->intended_ns);
  if (pace_.inflight != 0 && sending_) send_message(stamp->flow, now_ns_);
}

void PairClient::disturb() {
  if (disturbance_ == nullptr || !sending_ || begin_ns_ + next_.at_ns - now_ns_ < kDisturbGuardNs) return;
  if (const Status stepped = disturbance_->step(now_ns_); !stepped) break_off(stepped.error().message);
}

void PairClient::starve() {
  if (pace_.starve_us == 0 || now_ns_ < starve_next_ns_) return;
  const int64_t until_ns = clock_.mono_ns() + int64_t{pace_.starve_us} * 1000;
  while (clock_.mono_ns() < until_ns) {
  }
  starve_next_ns_ = until_ns + kStarveEveryNs;
}

void PairClient::break_off(const std::string& why) {
  if (broken_.empty()) broken_ = why;
}

}  // namespace taut::load
