#include "gateway/compactor.h"

#include <utility>

#include "core/this_thread.h"
#include "gateway/mails.h"

namespace taut::gateway {

Compactor::Compactor(FileSystem& files, CompactionOptions options, std::function<CompactionWishes()> wishes,
                     GoesOn goes_on, ShardId committer, CompactorMetrics& metrics)
    : files_(files),
      options_(std::move(options)),
      wishes_(std::move(wishes)),
      goes_on_(std::move(goes_on)),
      committer_(committer),
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
  CompactionWishes wishes = wishes_();
  const uint64_t forgotten = wishes.forgotten;
  if (begin_ns < forget_at_ns_) wishes.forgotten = 0;
  const Result<Compacted> compacted = compact_journal(files_, options_, wishes, goes_on_);
  const int64_t end_ns = shard_->clock().mono_ns();
  if (compacted) {
    metrics_.covered.store(compacted->covered);
    metrics_.removed.add(compacted->removed);
    if (compacted->bytes > 0) say(*compacted, end_ns - begin_ns);
    if (compacted->bytes > 0 && wishes.forgotten > 0)
      forget_at_ns_ = end_ns + kForgetPauses * (end_ns - begin_ns);
    forget(*compacted, forgotten);
  } else if (goes_on_()) {
    metrics_.failures.add(1);
    shard_->log().error("the journal is not made shorter, and a start takes longer: {}",
                        compacted.error().message);
  }
  shard_->timers().arm(look_, end_ns + (compacted ? kLookNs : kPauseAfterFailureNs));
}

/// The record that forgets is in the segment that is written to; another one must begin before a snapshot can
/// stand for it.
void Compactor::forget(const Compacted& compacted, uint64_t forgotten) {
  const bool open = forgotten > compacted.gone;
  if (metrics_.forgetting.load() != 0 && !open)
    shard_->log().info("what was forgotten up to record {} is in no file of the journal any more", forgotten);
  metrics_.forgetting.store(open ? 1 : 0);
  if (forgotten > compacted.settled && shard_->clock().mono_ns() >= forget_at_ns_)
    shard_->send(committer_, Mail{.kind = static_cast<uint32_t>(MailKind::segment_wanted)});
}

void Compactor::say(const Compacted& compacted, int64_t took_ns) {
  metrics_.snapshots.add(1);
  metrics_.snapshot_bytes.store(compacted.bytes);
  shard_->log().info("a snapshot of {} bytes stands for the journal up to record {}, made in {} ms",
                     compacted.bytes, compacted.covered, took_ns / 1'000'000);
}

}  // namespace taut::gateway
