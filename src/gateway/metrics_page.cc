#include "gateway/metrics_page.h"

#include <array>
#include <cstdio>
#include <span>
#include <string_view>

#include "core/allocation_counter.h"

namespace taut::gateway {

namespace {

class Page {
 public:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    text_.append("# HELP ")
        .append(name)
        .append(" ")
        .append(help)
        .append("\n# TYPE ")
        .append(name)
        .append(" ");
    text_.append(type).append("\n");
  }
  void value(std::string_view name, std::string_view labels, double value) {
    std::array<char, 32> number{};
    const int n = std::snprintf(number.data(), number.size(), "%.15g", value);
    text_.append(name);
    if (!labels.empty()) text_.append("{").append(labels).append("}");
    text_.append(" ").append(number.data(), static_cast<size_t>(n)).append("\n");
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::string shard_label(size_t shard) {
  return "shard=\"" + std::to_string(shard) + "\"";
}

/// One row: a cell of a struct that every shard has.
template <class Struct>
struct CellRow {
  std::string_view name;
  std::string_view type;
  std::string_view help;
  Cell Struct::* cell;
};

constexpr std::array kGatewayRows{
    CellRow<GatewayMetrics>{"taut_connections_accepted_total", "counter", "TCP connections accepted",
                            &GatewayMetrics::connections_accepted},
    CellRow<GatewayMetrics>{"taut_connections", "gauge", "Connections now", &GatewayMetrics::connections},
    CellRow<GatewayMetrics>{"taut_connections_refused_total", "counter", "Connections over connections-max",
                            &GatewayMetrics::connections_refused},
    CellRow<GatewayMetrics>{"taut_accepts_paused_total", "counter",
                            "Times that --handshake-rate left new connections in the kernel",
                            &GatewayMetrics::accepts_paused},
    CellRow<GatewayMetrics>{"taut_proxy_headers_refused_total", "counter",
                            "Connections of trusted proxies without a good PROXY header",
                            &GatewayMetrics::proxy_headers_refused},
    CellRow<GatewayMetrics>{"taut_handshakes_refused_total", "counter",
                            "WebSocket handshakes answered with an error",
                            &GatewayMetrics::handshakes_refused},
    CellRow<GatewayMetrics>{"taut_tls_handshakes_total", "counter", "TLS handshakes that succeeded",
                            &GatewayMetrics::tls_handshakes},
    CellRow<GatewayMetrics>{"taut_tls_failed_total", "counter", "TLS handshakes that failed",
                            &GatewayMetrics::tls_failed},
    CellRow<GatewayMetrics>{"taut_hello_errors_total", "counter", "Hellos refused",
                            &GatewayMetrics::hello_errors},
    CellRow<GatewayMetrics>{"taut_closed_slow_total", "counter", "Connections closed with 4103",
                            &GatewayMetrics::closed_slow},
    CellRow<GatewayMetrics>{"taut_closed_no_pong_total", "counter", "Connections closed with 4104",
                            &GatewayMetrics::closed_no_pong},
    CellRow<GatewayMetrics>{"taut_closed_protocol_total", "counter",
                            "Connections closed for broken framing, UTF-8 or compression",
                            &GatewayMetrics::closed_protocol},
    CellRow<GatewayMetrics>{"taut_frames_received_total", "counter", "Messages of clients",
                            &GatewayMetrics::frames_received},
    CellRow<GatewayMetrics>{"taut_bytes_received_total", "counter", "Bytes read from sockets",
                            &GatewayMetrics::bytes_received},
    CellRow<GatewayMetrics>{"taut_bytes_sent_total", "counter", "Bytes written to sockets",
                            &GatewayMetrics::bytes_sent},
    CellRow<GatewayMetrics>{"taut_writes_blocked_total", "counter", "Writes that a full socket cut short",
                            &GatewayMetrics::writes_blocked},
    CellRow<GatewayMetrics>{"taut_deflate_bytes_in_total", "counter", "Bytes of messages before compression",
                            &GatewayMetrics::deflate_bytes_in},
    CellRow<GatewayMetrics>{"taut_deflate_bytes_out_total", "counter", "The same after compression",
                            &GatewayMetrics::deflate_bytes_out},
    CellRow<GatewayMetrics>{"taut_messages_accepted_total", "counter", "Sends given a sequence number",
                            &GatewayMetrics::messages_accepted},
    CellRow<GatewayMetrics>{"taut_messages_duplicate_total", "counter", "Sends answered as repeats",
                            &GatewayMetrics::messages_duplicate},
    CellRow<GatewayMetrics>{"taut_messages_refused_total", "counter", "Sends answered with an error",
                            &GatewayMetrics::messages_refused},
    CellRow<GatewayMetrics>{"taut_rate_limited_total", "counter", "Messages over the rate of their identity",
                            &GatewayMetrics::rate_limited},
    CellRow<GatewayMetrics>{"taut_pushes_total", "counter",
                            "Frames given to connections without being asked for", &GatewayMetrics::pushes},
    CellRow<GatewayMetrics>{"taut_items_evicted_total", "counter", "Items that left memory for newer ones",
                            &GatewayMetrics::items_evicted},
    CellRow<GatewayMetrics>{"taut_resumes_total", "counter", "Conversations resumed",
                            &GatewayMetrics::resumes},
    CellRow<GatewayMetrics>{"taut_gaps_total", "counter", "Gaps said", &GatewayMetrics::gaps},
    CellRow<GatewayMetrics>{"taut_conversations", "gauge", "Conversations in memory, closed ones included",
                            &GatewayMetrics::conversations},
    CellRow<GatewayMetrics>{"taut_conversations_opened_total", "counter", "Conversations opened",
                            &GatewayMetrics::conversations_opened},
    CellRow<GatewayMetrics>{"taut_conversations_closed_total", "counter", "Conversations closed",
                            &GatewayMetrics::conversations_closed},
    CellRow<GatewayMetrics>{"taut_endpoints", "gauge", "Identities known", &GatewayMetrics::endpoints},
    CellRow<GatewayMetrics>{"taut_assignments_total", "counter", "Conversations given to an agent",
                            &GatewayMetrics::assignments},
    CellRow<GatewayMetrics>{"taut_requeues_total", "counter", "Conversations brought back to their queue",
                            &GatewayMetrics::requeues},
    CellRow<GatewayMetrics>{"taut_visitors_blocked", "gauge", "Visitors who may not come in",
                            &GatewayMetrics::visitors_blocked},
    CellRow<GatewayMetrics>{"taut_ratings_total", "counter", "Closed conversations rated by their visitors",
                            &GatewayMetrics::ratings},
    CellRow<GatewayMetrics>{"taut_rating_points_total", "counter", "The sum of these ratings, 1 to 5 each",
                            &GatewayMetrics::rating_points},
    CellRow<GatewayMetrics>{"taut_queued", "gauge", "Conversations waiting for an agent",
                            &GatewayMetrics::queued},
    CellRow<GatewayMetrics>{"taut_journal_records_total", "counter", "Records given to the journal",
                            &GatewayMetrics::journal_records},
    CellRow<GatewayMetrics>{"taut_journal_undurable_bytes", "gauge",
                            "Bytes of records that are not on disk yet",
                            &GatewayMetrics::journal_undurable_bytes},
    CellRow<GatewayMetrics>{"taut_journal_behind", "gauge",
                            "Conversations whose latest events wait in memory for the disk",
                            &GatewayMetrics::journal_behind},
    CellRow<GatewayMetrics>{"taut_storage_refused_total", "counter",
                            "Requests answered with the error storage", &GatewayMetrics::storage_refused},
};

constexpr std::array kShardRows{
    CellRow<ShardMetrics>{"taut_turns_total", "counter", "Turns that did something", &ShardMetrics::turns},
    CellRow<ShardMetrics>{"taut_polls_total", "counter", "Looks at the sockets", &ShardMetrics::polls},
    CellRow<ShardMetrics>{"taut_events_total", "counter", "Ready descriptors", &ShardMetrics::events},
    CellRow<ShardMetrics>{"taut_parks_total", "counter", "Waits in the kernel", &ShardMetrics::parks},
    CellRow<ShardMetrics>{"taut_parks_refused_total", "counter", "Waits given up because something was there",
                          &ShardMetrics::parks_refused},
    CellRow<ShardMetrics>{"taut_yields_total", "counter", "Times the processor was given away",
                          &ShardMetrics::yields},
    CellRow<ShardMetrics>{"taut_sleeps_total", "counter", "Timed sleeps, under dotnet and backoff",
                          &ShardMetrics::sleeps},
    CellRow<ShardMetrics>{"taut_wakes_total", "counter", "Other shards woken by a system call",
                          &ShardMetrics::wakes_sent},
    CellRow<ShardMetrics>{"taut_wakes_avoided_total", "counter", "Rings published to a shard that was awake",
                          &ShardMetrics::wakes_avoided},
    CellRow<ShardMetrics>{"taut_mails_sent_total", "counter", "Mails to shards", &ShardMetrics::mails_sent},
    CellRow<ShardMetrics>{"taut_mails_received_total", "counter", "Mails from shards",
                          &ShardMetrics::mails_received},
    CellRow<ShardMetrics>{"taut_overflow_mails", "gauge", "Mails waiting because a ring is full",
                          &ShardMetrics::overflow_now},
    CellRow<ShardMetrics>{"taut_overflow_mails_max", "gauge", "The most there ever were",
                          &ShardMetrics::overflow_max},
    CellRow<ShardMetrics>{"taut_ring_depth_max", "gauge", "Most mails ever seen in one ring",
                          &ShardMetrics::ring_depth_max},
    CellRow<ShardMetrics>{"taut_wake_cost_ns", "gauge", "Cost of a wake as measured",
                          &ShardMetrics::wake_cost_ns},
    CellRow<ShardMetrics>{"taut_spin_budget_ns", "gauge", "Longest spin allowed now",
                          &ShardMetrics::spin_budget_ns},
    CellRow<ShardMetrics>{"taut_gate_closures_total", "counter", "Times that a gate forbade spinning",
                          &ShardMetrics::gate_closures},
};

constexpr std::array kCommitterRows{
    CellRow<CommitterMetrics>{"taut_journal_record", "gauge", "The last record that is on disk",
                              &CommitterMetrics::durable},
    CellRow<CommitterMetrics>{"taut_journal_durable_total", "counter", "Records on disk",
                              &CommitterMetrics::records},
    CellRow<CommitterMetrics>{"taut_journal_bytes_total", "counter", "Their bytes without headers",
                              &CommitterMetrics::bytes},
    CellRow<CommitterMetrics>{"taut_journal_commits_total", "counter",
                              "Writes of a group of records to the disk", &CommitterMetrics::commits},
    CellRow<CommitterMetrics>{"taut_journal_failures_total", "counter", "Such writes that the disk refused",
                              &CommitterMetrics::failures},
    CellRow<CommitterMetrics>{"taut_journal_refusing", "gauge", "1 while the disk takes nothing",
                              &CommitterMetrics::refusing},
};

constexpr std::array kCompactorRows{
    CellRow<CompactorMetrics>{"taut_journal_snapshots_total", "counter",
                              "Snapshots made, which let a start skip the records before",
                              &CompactorMetrics::snapshots},
    CellRow<CompactorMetrics>{"taut_journal_snapshot_bytes", "gauge", "Size of the latest",
                              &CompactorMetrics::snapshot_bytes},
    CellRow<CompactorMetrics>{"taut_journal_snapshot_record", "gauge",
                              "The last record that a snapshot stands for", &CompactorMetrics::covered},
    CellRow<CompactorMetrics>{"taut_journal_segments_removed_total", "counter",
                              "Files that a snapshot made superfluous", &CompactorMetrics::removed},
    CellRow<CompactorMetrics>{"taut_journal_snapshot_failures_total", "counter",
                              "Attempts at a snapshot that failed", &CompactorMetrics::failures},
    CellRow<CompactorMetrics>{"taut_journal_forgetting", "gauge",
                              "1: what forgotten visitors said is still in files of the journal",
                              &CompactorMetrics::forgetting},
};

constexpr std::array kArchiveRows{
    CellRow<ArchiveMetrics>{"taut_store_record", "gauge",
                            "The last record of the journal that the history has", &ArchiveMetrics::position},
    CellRow<ArchiveMetrics>{"taut_store_batches_total", "counter", "Transactions that brought it there",
                            &ArchiveMetrics::batches},
    CellRow<ArchiveMetrics>{"taut_store_failures_total", "counter", "Attempts that the database refused",
                            &ArchiveMetrics::failures},
    CellRow<ArchiveMetrics>{"taut_store_failing", "gauge", "1 while the history is not kept",
                            &ArchiveMetrics::failing},
    CellRow<ArchiveMetrics>{"taut_store_questions_total", "counter", "Questions that the history answered",
                            &ArchiveMetrics::questions},
    CellRow<ArchiveMetrics>{"taut_store_refused_total", "counter", "Questions that it could not answer",
                            &ArchiveMetrics::refused},
    CellRow<ArchiveMetrics>{"taut_store_expired_total", "counter",
                            "Conversations that left the history after --retention-days",
                            &ArchiveMetrics::expired},
    CellRow<ArchiveMetrics>{"taut_store_wiping", "gauge",
                            "1: bytes of forgotten visitors are still in the store's files",
                            &ArchiveMetrics::wiping},
};

constexpr std::array<std::pair<std::string_view, Cell ShardMetrics::*>, 6> kTimes{{
    {"poll", &ShardMetrics::poll_ns},
    {"parse", &ShardMetrics::parse_ns},
    {"dispatch", &ShardMetrics::dispatch_ns},
    {"write", &ShardMetrics::write_ns},
    {"spin", &ShardMetrics::spin_ns},
    {"park", &ShardMetrics::park_ns},
}};

void add_gateway(Page& page, const std::vector<MetricsSource>& sources) {
  for (const CellRow<GatewayMetrics>& row : kGatewayRows) {
    page.head(row.name, row.type, row.help);
    double sum = 0;
    for (const MetricsSource& source : sources) {
      if (source.gateway != nullptr) sum += static_cast<double>((source.gateway->*row.cell).load());
    }
    page.value(row.name, {}, sum);
  }
}

void add_shards(Page& page, const std::vector<MetricsSource>& sources) {
  for (const CellRow<ShardMetrics>& row : kShardRows) {
    page.head(row.name, row.type, row.help);
    for (size_t i = 0; i < sources.size(); ++i) {
      page.value(row.name, shard_label(i), static_cast<double>((sources[i].shard->*row.cell).load()));
    }
  }
  page.head("taut_shard_seconds_total", "counter", "What a shard did with its time");
  for (size_t i = 0; i < sources.size(); ++i) {
    for (const auto& [phase, cell] : kTimes) {
      page.value("taut_shard_seconds_total", shard_label(i) + ",phase=\"" + std::string(phase) + "\"",
                 static_cast<double>((sources[i].shard->*cell).load()) / 1e9);
    }
  }
}

/// `sum` is the caller's: it is large.
void add_summary(Page& page, const Histogram<>& sum, std::string_view name, const std::string& label) {
  constexpr std::array<std::pair<std::string_view, double>, 3> kQuantiles{
      {{"0.5", 50}, {"0.99", 99}, {"0.999", 99.9}}};
  for (const auto& [quantile, percent] : kQuantiles) {
    const std::string at = (label.empty() ? "" : label + ",") + "quantile=\"" + std::string(quantile) + "\"";
    page.value(name, at, static_cast<double>(sum.percentile_ns(percent)) / 1e9);
  }
  page.value(std::string(name) + "_sum", label, static_cast<double>(sum.sum_ns()) / 1e9);
  page.value(std::string(name) + "_count", label, static_cast<double>(sum.count()));
}

template <class Pick>
void add_times(Page& page, const std::vector<MetricsSource>& sources, Histogram<>& sum, std::string_view name,
               const std::string& label, Pick&& pick) {
  sum.reset();
  for (const MetricsSource& source : sources) {
    if (source.gateway != nullptr) sum.merge(pick(*source.gateway));
  }
  add_summary(page, sum, name, label);
}

template <class M>
void add_cells(Page& page, const M& cells, std::span<const CellRow<M>> rows) {
  for (const CellRow<M>& row : rows) {
    page.head(row.name, row.type, row.help);
    page.value(row.name, {}, static_cast<double>((cells.*row.cell).load()));
  }
}

void add_journal(Page& page, const CommitterMetrics& committer, Histogram<>& sum) {
  add_cells<CommitterMetrics>(page, committer, kCommitterRows);
  page.head("taut_journal_commit_seconds", "summary", "Time that the disk took for one of these writes");
  sum.reset();
  sum.merge(committer.commit_ns);
  add_summary(page, sum, "taut_journal_commit_seconds", {});
}

void add_memory(Page& page, const std::vector<MetricsSource>& sources) {
  uint64_t in_use = 0;
  uint64_t blocks = 0;
  uint64_t slabs = 0;
  uint64_t refused = 0;
  uint64_t overdrawn = 0;
  uint64_t dropped = 0;
  for (const MetricsSource& source : sources) {
    if (source.pool != nullptr) {
      in_use += source.pool->bytes_in_use();
      blocks += source.pool->blocks_outstanding();
      slabs += source.pool->slab_bytes.load();
      refused += source.pool->refused.load();
      overdrawn += source.pool->overdrawn_bytes.load();
    }
    if (source.log != nullptr) dropped += source.log->dropped();
  }
  const auto one = [&page](std::string_view name, std::string_view type, std::string_view help,
                           uint64_t value) {
    page.head(name, type, help);
    page.value(name, {}, static_cast<double>(value));
  };
  one("taut_pool_bytes_in_use", "gauge", "Bytes of pool blocks that somebody holds", in_use);
  one("taut_pool_blocks_outstanding", "gauge", "Pool blocks that somebody holds", blocks);
  one("taut_pool_slab_bytes", "gauge", "Bytes that the pools have mapped", slabs);
  one("taut_pool_refused_total", "counter", "Pool allocations that a limit turned down", refused);
  one("taut_pool_overdrawn_bytes", "gauge", "Bytes beyond the limits of the pools, for what must be",
      overdrawn);
  one("taut_malloc_bytes_in_use", "gauge", "Bytes that malloc has handed out", heap_bytes_in_use());
  one("taut_allocations_total", "counter", "Heap allocations of the process", allocations_total());
  one("taut_log_dropped_total", "counter", "Log records that found their ring full", dropped);
}

}  // namespace

std::string metrics_page(const std::vector<MetricsSource>& sources) {
  Page page;
  add_gateway(page, sources);
  add_shards(page, sources);
  page.head("taut_stage_seconds", "summary", "Time of sampled messages in each stage of their way");
  Histogram<> sum;  // one for all: it is large
  for (size_t i = 0; i < kStages; ++i) {
    add_times(page, sources, sum, "taut_stage_seconds", "stage=\"" + std::string(kStageNames[i]) + "\"",
              [i](const GatewayMetrics& m) -> const LiveHistogram& { return m.stage_ns[i]; });
  }
  page.head("taut_message_seconds", "summary",
            "Time of sampled messages from readable to written, all stages");
  add_times(page, sources, sum, "taut_message_seconds", {},
            [](const GatewayMetrics& m) -> const LiveHistogram& { return m.message_ns; });
  for (const MetricsSource& source : sources) {
    if (source.committer != nullptr) add_journal(page, *source.committer, sum);
  }
  for (const MetricsSource& source : sources) {
    if (source.compactor != nullptr) add_cells<CompactorMetrics>(page, *source.compactor, kCompactorRows);
  }
  for (const MetricsSource& source : sources) {
    if (source.archive != nullptr) add_cells<ArchiveMetrics>(page, *source.archive, kArchiveRows);
  }
  add_memory(page, sources);
  return page.take();
}

}  // namespace taut::gateway
