// Which member of the mesh does what.
#pragma once

#include <cstdint>

#include "core/mail.h"

namespace taut::gateway {

/// Chat shards 0 … chat_shards - 1, the first of which has the dispatcher, then the HTTP service, then, if
/// there is a journal, its committer and its compactor, then, if there is a store, the archive.
struct Layout {
  uint32_t chat_shards = 1;
  bool journal = false;
  bool store = false;  ///< only with a journal
  [[nodiscard]] ShardId dispatcher() const { return 0; }
  [[nodiscard]] ShardId http_service() const { return chat_shards; }
  [[nodiscard]] ShardId committer() const { return journal ? chat_shards + 1 : kNobody; }
  [[nodiscard]] ShardId compactor() const { return journal ? chat_shards + 2 : kNobody; }
  [[nodiscard]] ShardId archive() const { return store ? chat_shards + 3 : kNobody; }
  [[nodiscard]] uint32_t members() const { return chat_shards + (journal ? 3 : 1) + (store ? 1 : 0); }
};

}  // namespace taut::gateway
