// Sends references to blocks home: at once to the own pool, in batches to other shards.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/buffer_pool.h"
#include "core/mail.h"
#include "core/shard.h"

namespace taut::hub {

/// Mail kinds that the hub itself defines; programs number theirs from kFirstProgramMail.
inline constexpr uint32_t kReturnBlocksMail = 1;
inline constexpr uint32_t kFirstProgramMail = 16;

/// The payload of kReturnBlocksMail: references that the receiver's pool takes back. Unused places are null.
struct ReturnedBlocks {
  std::array<Block*, 7> blocks{};
};

/// One per shard, owner thread only. A block must be given back once per reference that this shard holds.
class BlockReturn {
 public:
  explicit BlockReturn(Shard& shard) : shard_(shard), batches_(shard.shards()) {}

  void release(Block* block) {
    if (block->home == shard_.id()) {
      shard_.pool().release(block);
      return;
    }
    Batch& batch = batches_[block->home];
    batch.mail.blocks[batch.count++] = block;
    if (batch.count == batch.mail.blocks.size()) send(block->home, batch);
  }

  /// Once per turn, before the mail leaves: sends the batches that are not full.
  void flush() {
    for (ShardId home = 0; home < batches_.size(); ++home) {
      if (batches_[home].count > 0) send(home, batches_[home]);
    }
  }

  /// What arrived in a kReturnBlocksMail.
  void take_back(const ReturnedBlocks& returned) {
    for (Block* block : returned.blocks) {
      if (block == nullptr) break;
      shard_.pool().release(block);
    }
  }

 private:
  struct Batch {
    ReturnedBlocks mail;
    uint32_t count = 0;
  };

  void send(ShardId home, Batch& batch) {
    shard_.send(home, Mail::of(kReturnBlocksMail, batch.mail));
    batch = Batch{};
  }

  Shard& shard_;
  std::vector<Batch> batches_;
};

}  // namespace taut::hub
