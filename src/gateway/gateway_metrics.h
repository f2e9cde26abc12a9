// What one shard of the gateway counts: written by its thread, read when scraped.
#pragma once

#include <array>
#include <cstdint>

#include "core/cell.h"
#include "core/live_histogram.h"
#include "gateway/slowest.h"
#include "gateway/trace.h"

namespace taut::gateway {

/// Counters only grow; what is a level says so. Times are those of the messages that the Tracer samples.
struct GatewayMetrics {
  Cell connections_accepted;
  Cell connections;  ///< level
  Cell connections_refused;
  Cell accepts_paused;
  Cell proxy_headers_refused;
  Cell handshakes_refused;
  Cell tls_handshakes;
  Cell tls_failed;
  Cell hello_errors;
  Cell closed_slow;
  Cell closed_no_pong;
  Cell closed_protocol;
  Cell frames_received;
  Cell bytes_received;
  Cell bytes_sent;
  Cell writes_blocked;
  Cell deflate_bytes_in;   ///< of messages that were compressed, or tried to be
  Cell deflate_bytes_out;  ///< what became of them
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
  Cell visitors_blocked;  ///< level
  Cell ratings;
  Cell rating_points;  ///< the sum of the ratings
  Cell queued;         ///< level, on the dispatcher's shard
  Cell journal_records;
  Cell journal_undurable_bytes;  ///< level
  Cell storage_refused;          ///< requests answered `storage`
  Cell journal_behind;  ///< level, conversations whose latest changes wait for the disk in memory alone

  std::array<LiveHistogram, kStages> stage_ns;
  LiveHistogram message_ns;  ///< all stages of a message; written where it was delivered
  SlowestBoard slowest;
};

}  // namespace taut::gateway
