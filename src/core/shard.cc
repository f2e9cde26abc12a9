// A turn, in order: wait or look at the sockets, mail, ready sockets, due timers, unfinished work, output,
// doorbells.
//
// Between turns the shard decides how to look next. After work it looks again at once, unless it would park
// anyway: then the wait in the kernel is that look, and a message costs one epoll call and not two. While it
// spins it climbs its ladder, looks at the rings after every rung and at the sockets at most once a
// microsecond.
#include "core/shard.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "core/cycle_clock.h"
#include "core/idle_ladder.h"
#include "core/mail_fifo.h"
#include "core/outbox.h"
#include "core/proc_gate_source.h"
#include "core/this_thread.h"
#include "core/topology.h"

namespace taut {
namespace {

/// While spinning, sockets are looked at no more often than this (an empty look costs 112 ns).
constexpr int64_t kLookAtSocketsEveryNs = 1'000;
/// How often pool housekeeping runs while slabs beyond the base set may have to be given back.
constexpr int64_t kHousekeepingNs = 1'000'000'000;

}  // namespace

struct Shard::Impl {
  /// How a turn looks at the sockets.
  enum class Look : uint8_t { skip, poll, park };

  Impl(Seen& a_seen, const Options& shard_options, Clock& a_clock, Poller& a_poller, Mesh& a_mesh,
       LogRing& a_log);
  ~Impl() { mesh.doorbell(options.id).detach(); }

  void prepare_thread();
  void measure_wake_cost();
  [[nodiscard]] bool finished(const ShardProgram& program) const;
  [[nodiscard]] Look next_look(const ShardProgram& program);
  [[nodiscard]] Look climb();
  void give_way(const IdleStep& step);
  bool turn(ShardProgram& program, Look look);
  [[nodiscard]] uint32_t poll_now();
  [[nodiscard]] uint32_t park(const ShardProgram& program);
  [[nodiscard]] bool anything_ready(const ShardProgram& program) const;
  [[nodiscard]] int64_t park_timeout_ns() const;
  void note_wake(int64_t parked_at_ns, int64_t timeout_ns, uint32_t ready);
  [[nodiscard]] bool notice_stop(ShardProgram& program);
  [[nodiscard]] bool receive(ShardProgram& program);
  [[nodiscard]] bool receive_own(ShardProgram& program);
  [[nodiscard]] bool fire_timers(ShardProgram& program);

  /// Charges the time since the last lap to a metric.
  void lap(Cell& cell) {
    const int64_t now = cycles.now_ns();
    cell.add(static_cast<uint64_t>(now - lap_ns));
    lap_ns = now;
  }

  // constant after construction
  const Options options;
  const CycleClock& cycles = CycleClock::machine();
  Clock& clock;
  Poller& poller;
  Mesh& mesh;
  LogRing& log;
  // written by the owner, read by anybody
  ShardMetrics metrics;
  // owner thread only
  TimerWheel timers;
  std::optional<BufferPool> pool;  ///< from begin() on, so that its pages are touched by the owner
  ProcGateSource gate_source;
  std::optional<Parker> parker;  ///< from run() on
  std::vector<std::pair<ShardId, SpscRing<Mail>*>> incoming;
  Outbox outbox;
  MailFifo own{kOverflowMax};
  std::array<PollEvent, kEventsPerTurn> events;
  int64_t& now_ns;               ///< of this turn, by `clock`
  int64_t lap_ns = 0;            ///< end of the last lap, by `cycles`
  int64_t tick_ns = 0;           ///< when this turn looked for work, by `cycles`
  int64_t looked_at_ns = 0;      ///< when the sockets were last looked at, by `cycles`
  int64_t housekeeping_ns = 0;   ///< when housekeeping is due, by `clock`
  uint64_t base_slab_bytes = 0;  ///< the pool's base set
  int64_t stop_deadline_ns = 0;  ///< 0: not stopping
  IdleLadder ladder;
  bool idle = false;  ///< the last turn found nothing
  // shared
  alignas(kApartBytes) std::atomic<bool> stop_requested{false};
};

Shard::Impl::Impl(Seen& a_seen, const Options& shard_options, Clock& a_clock, Poller& a_poller, Mesh& a_mesh,
                  LogRing& a_log)
    : options(shard_options),
      clock(a_clock),
      poller(a_poller),
      mesh(a_mesh),
      log(a_log),
      timers(a_clock.mono_ns()),
      outbox(a_mesh, shard_options.id, kOverflowMax, shard_options.patient, metrics),
      now_ns(a_seen.now_ns),
      ladder(shard_options.wait.strategy) {
  TAUT_ASSERT(options.id < mesh.members());
  for (ShardId other = 0; other < mesh.members(); ++other) {
    if (other == options.id) continue;
    incoming.emplace_back(other, &mesh.ring(other, options.id));
  }
  mesh.doorbell(options.id).attach(poller);
}

void Shard::Impl::prepare_thread() {
  name_this_thread("shard-" + std::to_string(options.id));
  set_exact_timers();
  set_up_this_thread(options.thread, options.wait.strategy, log);
  const uint32_t usable =
      options.wait.usable_cores > 0 ? options.wait.usable_cores : Topology::read().usable_cores();
  parker.emplace(options.wait, SpinGate::options_for(options.id, usable), &gate_source);
  measure_wake_cost();
}

void Shard::Impl::measure_wake_cost() {
  // A timer's wake takes the same way out of an idle processor as a message's, so its lateness is a first
  // estimate; note_wake() refines it with every real wake.
  constexpr int kSamples = 7;
  constexpr int64_t kSleepNs = 200'000;
  if (options.wait.strategy != WaitOptions::Strategy::adaptive) return;
  for (int i = 0; i < kSamples; ++i) {
    const int64_t start_ns = cycles.now_ns();
    const uint32_t ready =
        poller.wait(events, kSleepNs);  // what is ready now is ready in the first turn as well
    const int64_t end_ns = cycles.now_ns();
    if (ready == 0 && end_ns - start_ns >= kSleepNs) parker->woken(start_ns + kSleepNs, end_ns);
  }
}

bool Shard::Impl::finished(const ShardProgram& program) const {
  return stop_deadline_ns != 0 && (program.stopped() || now_ns >= stop_deadline_ns);
}

// -- deciding how to look --

Shard::Impl::Look Shard::Impl::next_look(const ShardProgram& program) {
  if (outbox.congested()) {
    // Nobody tells us when a full ring has room again, so we may not park; its reader may need our processor.
    if (idle) give_way({.kind = IdleStep::Kind::yield});
    return Look::skip;
  }
  if (program.has_work() || !own.empty()) return Look::poll;
  if (idle && pool->prepare_some()) return Look::poll;
  tick_ns = idle ? cycles.now_ns() : lap_ns;
  if (parker->should_park(tick_ns)) return Look::park;
  return idle ? climb() : Look::poll;
}

Shard::Impl::Look Shard::Impl::climb() {
  const IdleStep step = ladder.next();
  if (step.kind != IdleStep::Kind::pause) {
    give_way(step);
    return Look::poll;
  }
  take(step);
  return tick_ns - looked_at_ns >= kLookAtSocketsEveryNs ? Look::poll : Look::skip;
}

void Shard::Impl::give_way(const IdleStep& step) {
  const bool sleeps = step.kind == IdleStep::Kind::sleep;
  lap(metrics.spin_ns);
  take(step);
  lap(sleeps ? metrics.park_ns : metrics.spin_ns);
  (sleeps ? metrics.sleeps : metrics.yields).add(1);
}

// -- looking --

uint32_t Shard::Impl::poll_now() {
  lap(metrics.spin_ns);
  const uint32_t ready = poller.wait(events, 0);
  lap(metrics.poll_ns);
  looked_at_ns = lap_ns;
  metrics.polls.add(1);
  return ready;
}

bool Shard::Impl::anything_ready(const ShardProgram& program) const {
  if (!own.empty() || outbox.congested() || program.has_work()) return true;
  // Pairs with the store in request_stop(); the wake that follows it would end the wait anyway.
  if (stop_deadline_ns == 0 && stop_requested.load(std::memory_order_acquire)) return true;
  return std::ranges::any_of(incoming, [](const auto& from) { return !from.second->empty(); });
}

int64_t Shard::Impl::park_timeout_ns() const {
  int64_t until_ns = timers.next_deadline_ns();
  if (stop_deadline_ns != 0) until_ns = std::min(until_ns, stop_deadline_ns);
  if (pool->metrics().slab_bytes.load() > base_slab_bytes) until_ns = std::min(until_ns, housekeeping_ns);
  return until_ns == TimerWheel::kNever ? -1 : std::max<int64_t>(until_ns - now_ns, 0);
}

uint32_t Shard::Impl::park(const ShardProgram& program) {
  Doorbell& doorbell = mesh.doorbell(options.id);
  doorbell.announce_park();
  if (anything_ready(program)) {
    doorbell.announce_running();
    metrics.parks_refused.add(1);
    return poll_now();
  }
  const int64_t timeout_ns = park_timeout_ns();
  lap(metrics.spin_ns);
  const int64_t parked_at_ns = lap_ns;
  const uint32_t ready = poller.wait(events, timeout_ns);
  doorbell.announce_running();
  lap(metrics.park_ns);
  metrics.parks.add(1);
  metrics.polls.add(1);
  now_ns = clock.mono_ns();
  tick_ns = lap_ns;
  looked_at_ns = lap_ns;
  note_wake(parked_at_ns, timeout_ns, ready);
  return ready;
}

void Shard::Impl::note_wake(int64_t parked_at_ns, int64_t timeout_ns, uint32_t ready) {
  // Shorter waits find the processor still warm and would make a wake look cheap.
  constexpr int64_t kColdAfterNs = 50'000;
  const int64_t rung_at_ns = mesh.doorbell(options.id).rung_at_ns();
  if (rung_at_ns > parked_at_ns + kColdAfterNs && rung_at_ns <= lap_ns) {
    parker->woken(rung_at_ns, lap_ns);
  } else if (ready == 0 && timeout_ns >= kColdAfterNs && lap_ns >= parked_at_ns + timeout_ns) {
    parker->woken(parked_at_ns + timeout_ns, lap_ns);
  }
  metrics.wake_cost_ns.store(static_cast<uint64_t>(parker->budget().wake_cost_ns()));
  metrics.spin_budget_ns.store(static_cast<uint64_t>(parker->allowed_ns()));
  metrics.gate_closures.store(parker->gate().closures());
}

// -- a turn --

bool Shard::Impl::turn(ShardProgram& program, Look look) {
  now_ns = clock.mono_ns();
  uint32_t ready = 0;
  if (look == Look::park) ready = park(program);
  if (look == Look::poll) ready = poll_now();

  bool worked = notice_stop(program);
  const bool from_others = receive(program);
  const bool from_self = receive_own(program);
  const bool mail = from_others || from_self;
  if (mail) lap(metrics.dispatch_ns);
  if (ready > 0) {
    program.on_events({events.data(), ready});
    metrics.events.add(ready);
    lap(metrics.parse_ns);
  }
  const bool fired = fire_timers(program);
  const bool more = program.has_work();
  if (more) program.continue_work();
  if (fired || more) lap(metrics.dispatch_ns);

  worked = worked || mail || ready > 0 || fired || more;
  if (worked) program.flush();
  outbox.publish();
  if (worked) {
    metrics.turns.add(1);
    lap(metrics.write_ns);
  }
  if (now_ns >= housekeeping_ns) {
    pool->trim(now_ns);
    housekeeping_ns = now_ns + kHousekeepingNs;
  }
  return worked;
}

bool Shard::Impl::notice_stop(ShardProgram& program) {
  if (stop_deadline_ns != 0) return false;
  // Pairs with the release in request_stop().
  if (!stop_requested.load(std::memory_order_acquire)) return false;
  stop_deadline_ns = now_ns + options.stop_within_ns;
  program.stop();
  return true;
}

bool Shard::Impl::receive(ShardProgram& program) {
  bool any = false;
  for (const auto& [from, ring] : incoming) {
    const std::span<const Mail> batch = ring->front();
    if (batch.empty()) continue;
    any = true;
    const auto count = static_cast<uint32_t>(batch.size());
    const bool more = count == SpscRing<Mail>::kBatchMax;
    const uint64_t depth = more ? ring->size_approx() : count;
    if (depth > metrics.ring_depth_max.load()) metrics.ring_depth_max.store(depth);
    metrics.mails_received.add(count);
    program.on_mail(from, batch);
    ring->consume(count);
  }
  return any;
}

bool Shard::Impl::receive_own(ShardProgram& program) {
  if (own.empty()) return false;
  // Copied out: the program may send itself more mail meanwhile, and the queue may move.
  std::array<Mail, SpscRing<Mail>::kBatchMax> batch;
  const auto waiting = own.front(batch.size());
  const auto count = static_cast<uint32_t>(waiting.size());
  std::ranges::copy(waiting, batch.begin());
  own.consume(count);
  metrics.mails_received.add(count);
  program.on_mail(options.id, {batch.data(), count});
  return true;
}

bool Shard::Impl::fire_timers(ShardProgram& program) {
  return timers.expire(now_ns, [&program](Timer& timer) { program.on_timer(timer); }) > 0;
}

// -- the interface --

Shard::Shard(const Options& options, Clock& clock, Poller& poller, Mesh& mesh, LogRing& log)
    : seen_{.id = options.id}, impl_(std::make_unique<Impl>(seen_, options, clock, poller, mesh, log)) {}
Shard::~Shard() = default;

void Shard::begin(ShardProgram& program) {
  impl_->pool.emplace(impl_->options.pool);
  impl_->pool->adopt();
  seen_.pool = &*impl_->pool;
  impl_->base_slab_bytes = impl_->pool->metrics().slab_bytes.load();
  impl_->now_ns = impl_->clock.mono_ns();
  impl_->lap_ns = impl_->cycles.now_ns();
  program.start(*this);
  impl_->outbox.publish();
}

bool Shard::turn(ShardProgram& program) {
  return impl_->turn(program, impl_->outbox.congested() ? Impl::Look::skip : Impl::Look::poll);
}

void Shard::run(ShardProgram& program) {
  Impl& impl = *impl_;
  impl.prepare_thread();
  begin(program);
  while (!impl.finished(program)) {
    const Impl::Look look = impl.next_look(program);
    const bool worked = impl.turn(program, look);
    impl.idle = !worked;
    if (!worked) continue;
    impl.parker->worked(impl.tick_ns);
    impl.ladder.restart();
  }
}

void Shard::settle(ShardProgram& program) {
  impl_->pool->adopt();
  static_cast<void>(impl_->turn(program, Impl::Look::skip));
}

void Shard::request_stop() noexcept {
  // Pairs with the acquire in notice_stop(). The wake outlasts a wait that begins later, so none is missed.
  impl_->stop_requested.store(true, std::memory_order_release);
  impl_->poller.wake();
}

uint32_t Shard::shards() const {
  return impl_->mesh.members();
}
Clock& Shard::clock() {
  return impl_->clock;
}
Poller& Shard::poller() {
  return impl_->poller;
}
TimerWheel& Shard::timers() {
  return impl_->timers;
}
LogRing& Shard::log() {
  return impl_->log;
}
void Shard::send(ShardId to, const Mail& mail) {
  impl_->metrics.mails_sent.add(1);
  if (to == impl_->options.id) {
    impl_->own.push(mail);
  } else {
    impl_->outbox.send(to, mail);
  }
}
bool Shard::congested() const {
  return impl_->outbox.congested();
}
ShardMetrics& Shard::metrics() {
  return impl_->metrics;
}

}  // namespace taut
