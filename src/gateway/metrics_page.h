// Everything that the server counts, as Prometheus text.
#pragma once

#include <string>
#include <vector>

#include "core/buffer_pool.h"
#include "core/log_ring.h"
#include "core/shard_metrics.h"
#include "gateway/archive.h"
#include "gateway/committer.h"
#include "gateway/compactor.h"
#include "gateway/gateway_metrics.h"

namespace taut::gateway {

/// What one thread of the server counts; the HTTP service has no gateway part.
struct MetricsSource {
  const ShardMetrics* shard = nullptr;
  const BufferPool::Metrics* pool = nullptr;
  const GatewayMetrics* gateway = nullptr;
  const LogRing* log = nullptr;
  const CommitterMetrics* committer = nullptr;
  const CompactorMetrics* compactor = nullptr;
  const ArchiveMetrics* archive = nullptr;
};

/// Reads cells that their owners go on writing, so sums may be a moment old. Not on a chat shard: it
/// allocates, and asks malloc and /proc for figures.
[[nodiscard]] std::string metrics_page(const std::vector<MetricsSource>& sources);

}  // namespace taut::gateway
