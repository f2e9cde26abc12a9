// What a shard did with its time and its rings, always on.
#pragma once

#include "core/metric.h"

namespace taut {

/// Written by the shard's thread, summed by whoever scrapes. Times in nanoseconds by the cycle clock;
/// together they are the shard's life since run() began. Only turns that did something are split into parse,
/// dispatch and write.
struct ShardMetrics {
  Counter poll_ns;      ///< looking at sockets without waiting
  Counter parse_ns;     ///< on_events: read, parse, the state machines
  Counter dispatch_ns;  ///< mail, timers, continue_work
  Counter write_ns;     ///< flush, publishing rings, waking other shards
  Counter spin_ns;      ///< nothing to do, awake
  Counter park_ns;      ///< nothing to do, in the kernel

  Counter turns;          ///< turns that did something
  Counter polls;          ///< looks at the sockets, parked or not
  Counter events;         ///< ready descriptors
  Counter parks;          ///< times the shard went into the kernel to wait
  Counter parks_refused;  ///< times the re-check before parking found something
  Counter wakes_sent;     ///< doorbells that cost a system call
  Counter wakes_avoided;  ///< touched rings whose reader was awake
  Counter mails_sent;
  Counter mails_received;
  Counter overflow_now;    ///< mails that wait here because a ring is full
  Counter overflow_max;    ///< the most there ever were
  Counter ring_depth_max;  ///< most mails ever seen waiting in one incoming ring
  Counter wake_cost_ns;    ///< C as measured now
  Counter spin_budget_ns;  ///< longest spin allowed now, 0 while a gate is closed
  Counter gate_closures;   ///< times a gate forbade spinning
};

}  // namespace taut
