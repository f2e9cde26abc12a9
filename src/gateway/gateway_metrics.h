// What one shard of the gateway counts: written by its thread, read when scraped.
#pragma once

#include <cstdint>

#include "core/cell.h"
#include "core/live_histogram.h"

namespace taut::gateway {

/// Counters only grow; the others are levels. Latencies are recorded for 1 message in kSampleEvery.
struct GatewayMetrics {
  static constexpr uint32_t kSampleEvery = 64;

  Cell connections_accepted;
  Cell connections;  ///< level
  Cell connections_refused;
  Cell handshakes_refused;
  Cell hello_errors;
  Cell closed_slow;
  Cell closed_no_pong;
  Cell closed_protocol;
  Cell frames_received;
  Cell bytes_received;
  Cell bytes_sent;
  Cell writes_blocked;
  Cell messages_accepted;
  Cell messages_duplicate;
  Cell messages_refused;
  Cell rate_limited;
  Cell pushes;
  Cell items_evicted;
  Cell resumes;
  Cell gaps;
  Cell conversations;  ///< level, closed ones that are kept included
  Cell conversations_opened;
  Cell conversations_closed;
  Cell endpoints;  ///< level
  Cell assignments;
  Cell requeues;
  Cell queued;  ///< level, on the dispatcher's shard

  LiveHistogram read_to_parsed_ns;     ///< frame found … message understood
  LiveHistogram parsed_to_routed_ns;   ///< … sequenced, stored and put into the receivers' queues
  LiveHistogram routed_to_written_ns;  ///< … the writes of its turn are done
};

}  // namespace taut::gateway
