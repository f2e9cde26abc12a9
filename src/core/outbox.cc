#include "core/outbox.h"

namespace taut {

Outbox::Outbox(Mesh& mesh, ShardId self, uint32_t overflow_max, ShardId patient, ShardMetrics& metrics)
    : metrics_(metrics) {
  for (ShardId to = 0; to < mesh.members(); ++to) {
    SpscRing<Mail>* ring = to == self ? nullptr : &mesh.ring(self, to);
    targets_.push_back({.ring = ring,
                        .doorbell = &mesh.doorbell(to),
                        .overflow = MailFifo(overflow_max),
                        .patient = to == patient});
  }
  touched_.reserve(mesh.members());
}

void Outbox::send(ShardId to, const Mail& mail) {
  TAUT_ASSERT(to < targets_.size() && targets_[to].ring != nullptr);
  Target& target = targets_[to];
  if (!target.touched) {
    target.touched = true;
    touched_.push_back(&target);
  }
  if (!target.overflow.empty() || !target.ring->push_unpublished(mail)) keep_for_later(target, mail);
}

void Outbox::keep_for_later(Target& target, const Mail& mail) {
  if (target.overflow.empty() && !target.patient) ++congested_targets_;
  target.overflow.push(mail);
  metrics_.overflow_now.add(1);
  const uint64_t depth = metrics_.overflow_now.load();
  if (depth > metrics_.overflow_max.load()) metrics_.overflow_max.store(depth);
}

void Outbox::drain_overflow(Target& target) {
  while (!target.overflow.empty()) {
    const auto waiting = target.overflow.front(SpscRing<Mail>::kBatchMax);
    uint32_t moved = 0;
    while (moved < waiting.size() && target.ring->push_unpublished(waiting[moved])) ++moved;
    const bool full = moved < waiting.size();
    target.overflow.consume(moved);
    metrics_.overflow_now.subtract(moved);
    if (full) return;
  }
  target.overflow.release_memory();
  if (!target.patient) --congested_targets_;
}

void Outbox::publish_touched() {
  for (Target* target : touched_) {
    if (!target->overflow.empty()) drain_overflow(*target);
    target->ring->publish();
  }
  publish_fence();  // pairs with Doorbell::announce_park(): all tails are out before any state is looked at
  for (Target* target : touched_) {
    (target->doorbell->ring() ? metrics_.wakes_sent : metrics_.wakes_avoided).add(1);
    target->touched = !target->overflow.empty();
  }
  std::erase_if(touched_, [](const Target* target) { return !target->touched; });
}

}  // namespace taut
