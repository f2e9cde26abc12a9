// The rings between all shards, and the doorbell of each.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/doorbell.h"
#include "core/mail.h"
#include "core/spsc_ring.h"

namespace taut {

/// members × members rings of mail (a shard's mail to itself stays with the shard). Built before the shards,
/// outlives them. A member is any thread with a Shard: a service thread that never spins is a Shard with
/// strategy park.
class Mesh {
 public:
  /// Shard ids travel in 8 bits (Handle).
  static constexpr uint32_t kMembersMax = 256;

  struct Options {
    uint32_t members = 1;
    uint32_t ring_capacity = 1024;  ///< mails per ring, a power of two; 64 KiB per ring at the default
  };

  /// For so many members: the default, and less where all rings together would pass 64 MiB or so.
  [[nodiscard]] static constexpr uint32_t ring_capacity_for(uint32_t members) {
    constexpr uint32_t kMailsMax = 1U << 20;
    constexpr uint32_t kFewest = 2 * SpscRing<Mail>::kBatchMax;
    return std::clamp(std::bit_floor(kMailsMax / (members * members)), kFewest, Options{}.ring_capacity);
  }

  /// REQUIRES: 1 ≤ members ≤ kMembersMax.
  explicit Mesh(const Options& options);
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;
  ~Mesh();

  [[nodiscard]] uint32_t members() const { return members_; }
  /// Pushed by `from`'s thread only, popped by `to`'s only. REQUIRES: from ≠ to, both < members().
  [[nodiscard]] SpscRing<Mail>& ring(ShardId from, ShardId to) {
    TAUT_ASSERT(from < members_ && to < members_ && from != to);
    return *rings_[from * members_ + to];
  }
  [[nodiscard]] Doorbell& doorbell(ShardId member) {
    TAUT_ASSERT(member < members_);
    return doorbells_[member];
  }

 private:
  const uint32_t members_;
  std::vector<std::unique_ptr<SpscRing<Mail>>> rings_;  // [from × members + to], empty on the diagonal
  const std::unique_ptr<Doorbell[]> doorbells_;
};

}  // namespace taut
