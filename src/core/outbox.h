// A shard's mail on its way out: the rings to the others, what did not fit, and whom to wake.
#pragma once

#include <cstdint>
#include <vector>

#include "core/mail_fifo.h"
#include "core/mesh.h"
#include "core/shard_metrics.h"

namespace taut {

/// Owner thread only. Per target, mail leaves in the order in which it was sent: first what waits in the
/// overflow.
class Outbox {
 public:
  /// `overflow_max`, a power of two: mails that may wait per target. `patient`: the member for which mail may
  /// wait without congestion; kNobody: none. REQUIRES: mesh and metrics outlive the outbox.
  Outbox(Mesh& mesh, ShardId self, uint32_t overflow_max, ShardId patient, ShardMetrics& metrics);

  /// REQUIRES: `to` is another member. Visible to it after publish().
  void send(ShardId to, const Mail& mail);
  /// Publishes every touched ring, then one fence, then wakes the parked readers: once per turn.
  void publish() {
    if (!touched_.empty()) publish_touched();
  }
  /// Some mail waits because a ring is full; it moves on at each publish().
  [[nodiscard]] bool congested() const { return congested_targets_ > 0; }

 private:
  struct Target {
    SpscRing<Mail>* ring = nullptr;  ///< null for the shard itself
    Doorbell* doorbell = nullptr;
    MailFifo overflow;
    bool touched = false;
    bool patient = false;
  };

  void publish_touched();
  void keep_for_later(Target& target, const Mail& mail);
  void drain_overflow(Target& target);

  ShardMetrics& metrics_;
  std::vector<Target> targets_;
  std::vector<Target*> touched_;  ///< with something to publish or to drain
  uint32_t congested_targets_ = 0;
};

}  // namespace taut
