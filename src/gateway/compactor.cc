#include "gateway/compactor.h"

#include <utility>

#include "core/this_thread.h"

namespace taut::gateway {

Compactor::Compactor(FileSystem& files, CompactionOptions options, std::function<uint64_t()> keep_from,
                     GoesOn goes_on, CompactorMetrics& metrics)
    : files_(files),
      options_(std::move(options)),
      keep_from_(std::move(keep_from)),
      goes_on_(std::move(goes_on)),
      metrics_(metrics) {}

Compactor::~Compactor() {
  if (shard_ != nullptr) shard_->timers().cancel(look_);
}

void Compactor::start(Shard& shard) {
  shard_ = &shard;
  run_when_idle();
  shard.timers().arm(look_, shard.now_ns() + kLookNs);
}

void Compactor::on_timer(Timer& /*timer*/) {
  due_ = true;
}

void Compactor::flush() {
  if (std::exchange(due_, false) && !stopping_) look();
}

void Compactor::look() {
  const int64_t begin_ns = shard_->clock().mono_ns();
  const Result<Compacted> compacted = compact_journal(files_, options_, keep_from_(), goes_on_);
  const int64_t end_ns = shard_->clock().mono_ns();
  if (compacted) {
    metrics_.covered.store(compacted->covered);
    metrics_.removed.add(compacted->removed);
    if (compacted->bytes > 0) say(*compacted, end_ns - begin_ns);
  } else if (goes_on_()) {
    metrics_.failures.add(1);
    shard_->log().error("the journal is not made shorter, and a start takes longer: {}",
                        compacted.error().message);
  }
  shard_->timers().arm(look_, end_ns + (compacted ? kLookNs : kPauseAfterFailureNs));
}

void Compactor::say(const Compacted& compacted, int64_t took_ns) {
  metrics_.snapshots.add(1);
  metrics_.snapshot_bytes.store(compacted.bytes);
  shard_->log().info("a snapshot of {} bytes stands for the journal up to record {}, made in {} ms",
                     compacted.bytes, compacted.covered, took_ns / 1'000'000);
}

}  // namespace taut::gateway
