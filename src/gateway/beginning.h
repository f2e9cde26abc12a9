// What each chat shard begins with.
#pragma once

#include <cstdint>
#include <vector>

#include "gateway/layout.h"
#include "gateway/recovery.h"

namespace taut::gateway {

/// What the process, and this shard of it, begins with.
struct Beginning {
  int64_t process_start_ms = 0;  ///< no other process has the same: names of conversations tell it
  uint64_t hash_seed = 0;        ///< the same for all shards
  RecoveredShard shard;
  std::vector<RecoveredWord> words;  ///< for the dispatcher's shard
};

/// One for each chat shard. Where nothing was recovered there are no `shards`.
[[nodiscard]] std::vector<Beginning> beginnings_of(Recovered recovered, const Layout& layout);

}  // namespace taut::gateway
