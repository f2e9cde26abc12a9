// What a shard did with its time and its rings, always on.
#pragma once

#include "core/cell.h"

namespace taut {

/// Written by the shard's thread, summed by whoever scrapes. Times in nanoseconds by the cycle clock;
/// together they are the shard's life since run() began. Only turns that did something are split into parse,
/// dispatch and write.
struct ShardMetrics {
  Cell poll_ns;      ///< looking at sockets without waiting
  Cell parse_ns;     ///< on_events: read, parse, the state machines
  Cell dispatch_ns;  ///< mail, timers, continue_work
  Cell write_ns;     ///< flush, publishing rings, waking other shards
  Cell spin_ns;      ///< nothing to do, awake
  Cell park_ns;      ///< nothing to do, in the kernel, asleep

  Cell turns;          ///< turns that did something
  Cell polls;          ///< looks at the sockets, parked or not
  Cell events;         ///< ready descriptors
  Cell parks;          ///< times the shard went into the kernel to wait
  Cell parks_refused;  ///< times the re-check before parking found something
  Cell yields;         ///< times the processor was given away, awake
  Cell sleeps;         ///< timed sleeps that nobody can end (dotnet, backoff)
  Cell wakes_sent;     ///< doorbells that cost a system call
  Cell wakes_avoided;  ///< touched rings whose reader was awake
  Cell mails_sent;
  Cell mails_received;
  Cell overflow_now;    ///< mails that wait here because a ring is full
  Cell overflow_max;    ///< the most there ever were
  Cell ring_depth_max;  ///< most mails ever seen waiting in one incoming ring
  Cell wake_cost_ns;    ///< C as measured now
  Cell spin_budget_ns;  ///< longest spin allowed now, 0 while a gate is closed
  Cell gate_closures;   ///< times a gate forbade spinning
};

}  // namespace taut
