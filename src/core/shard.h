// One thread's event loop: mail, sockets, timers, output, and the decision to spin or to park.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/assert.h"
#include "base/clock.h"
#include "core/buffer_pool.h"
#include "core/log_ring.h"
#include "core/mail.h"
#include "core/mesh.h"
#include "core/parker.h"
#include "core/poller.h"
#include "core/shard_metrics.h"
#include "core/thread_setup.h"
#include "core/timer_wheel.h"

namespace taut {

class Shard;

/// What runs on a shard. Every call comes from the shard's thread and never waits.
class ShardProgram {
 public:
  virtual ~ShardProgram() = default;

  /// Once, before the first turn, on the shard's thread.
  virtual void start(Shard& shard) = 0;
  /// Ready descriptors, at most Shard::kEventsPerTurn.
  virtual void on_events(std::span<const PollEvent> events) = 0;
  /// Mail from one shard, in the order in which it was sent, at most SpscRing's batch.
  virtual void on_mail(ShardId from, std::span<const Mail> batch) = 0;
  /// A timer that is due (see TimerWheel).
  virtual void on_timer(Timer& timer) = 0;
  /// End of a turn that did something: write corked output. Mail sent here still leaves in this turn.
  virtual void flush() = 0;
  /// True while there is work that no event, mail or timer will announce; the shard then does not park and
  /// calls continue_work() in its next turn.
  [[nodiscard]] virtual bool has_work() const = 0;
  virtual void continue_work() = 0;
  /// The stop signal was seen: say goodbye, begin closing. The shard then goes on turning until stopped() or
  /// Options::stop_within_ns.
  virtual void stop() = 0;
  [[nodiscard]] virtual bool stopped() const = 0;
};

/// The engine's unit: one thread, its mailboxes, its poller, its timers, its pool, its log ring.
/// Owner thread only, except request_stop() and metrics().
class Shard {
 public:
  static constexpr uint32_t kEventsPerTurn = 256;
  /// Most mails that may wait for one full ring (64 MiB). More means that the program reads input while
  /// congested(): our bug, and the process ends with one line rather than lose a message.
  static constexpr uint32_t kOverflowMax = 1U << 20;

  struct Options {
    ShardId id = 0;
    WaitOptions wait;
    ThreadSetup thread;
    int64_t stop_within_ns = 4'000'000'000;
    /// The member for which mail may wait while its ring is full without this shard being congested(): one
    /// that waits for a disk. The program bounds what it has on its way there. REQUIRES: that member answers
    /// with mail after it has made room, for nothing else brings a parked shard back to send the rest.
    ShardId patient = kNobody;
    BufferPool::Options pool;
  };

  /// All dependencies outlive the shard.
  Shard(const Options& options, Clock& clock, Poller& poller, Mesh& mesh, LogRing& log);
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;
  ~Shard();

  /// Runs turns until the program has stopped. The calling thread becomes the owner (and is pinned if asked).
  void run(ShardProgram& program);

  /// start() plus nothing else, for a simulator that calls turn() itself.
  void begin(ShardProgram& program);
  /// One turn that never waits: mail, sockets, due timers, continue_work, flush, doorbells. True if anything
  /// happened.
  bool turn(ShardProgram& program);

  /// After run() has returned and every shard's thread has ended: one turn on the calling thread, which
  /// becomes the owner, so that what was still on its way between shards is received.
  void settle(ShardProgram& program);

  /// Any thread, also a signal handler's thread: the loop notices within 100 ms under every strategy.
  void request_stop() noexcept;

  // -- for the program, on the shard's thread --

  [[nodiscard]] ShardId id() const { return seen_.id; }
  [[nodiscard]] uint32_t shards() const;
  /// The time of this turn, read once at its beginning and again after a wait.
  [[nodiscard]] int64_t now_ns() const { return seen_.now_ns; }
  [[nodiscard]] Clock& clock();
  [[nodiscard]] Poller& poller();
  [[nodiscard]] TimerWheel& timers();
  /// REQUIRES: begin() or run() was called (the pool is made on the owner's thread).
  /// From begin() on: its pages are touched by the shard's own thread.
  [[nodiscard]] BufferPool& pool() {
    TAUT_ASSERT(seen_.pool != nullptr);
    return *seen_.pool;
  }
  [[nodiscard]] LogRing& log();

  /// Puts mail into the ring to another shard, or to this one (delivered in the next turn). Never blocks,
  /// never fails: what does not fit goes to a bounded local overflow in order, whose memory exists only while
  /// it is needed. Visible to the receiver at the end of the turn (one release store and at most one wake per
  /// touched ring).
  void send(ShardId to, const Mail& mail);
  /// True while some overflow is not empty: the program must not read more input that could cause mail.
  [[nodiscard]] bool congested() const;

  /// Any thread may read.
  [[nodiscard]] ShardMetrics& metrics();

 private:
  struct Impl;
  /// What programs ask for with every message, without a call.
  struct Seen {
    ShardId id = 0;
    int64_t now_ns = 0;
    BufferPool* pool = nullptr;
  };
  Seen seen_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut
