#include "gateway/beginning.h"

#include <utility>

namespace taut::gateway {

std::vector<Beginning> beginnings_of(Recovered recovered, const Layout& layout) {
  recovered.shards.resize(layout.chat_shards);
  std::vector<Beginning> beginnings(layout.chat_shards);
  for (ShardId id = 0; id < layout.chat_shards; ++id) {
    beginnings[id].process_start_ms = recovered.latest_ms;
    beginnings[id].hash_seed = recovered.hash_seed;
    beginnings[id].shard = std::move(recovered.shards[id]);
  }
  beginnings[layout.dispatcher()].words = std::move(recovered.words);
  return beginnings;
}

}  // namespace taut::gateway
