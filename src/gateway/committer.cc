#include "gateway/committer.h"

#include <utility>

#include "base/assert.h"
#include "core/this_thread.h"
#include "wire/record_json.h"

namespace taut::gateway {

Committer::Committer(journal::JournalWriter& writer, const Layout& layout, const Options& options,
                     CommitterMetrics& metrics)
    : writer_(writer), layout_(layout), options_(options), metrics_(metrics), durable_(layout.chat_shards) {
  metrics_.durable.store(writer_.durable_sequence());
}

Committer::~Committer() {
  if (shard_ == nullptr) return;
  shard_->timers().cancel(linger_);
  shard_->timers().cancel(retry_);
}

void Committer::start(Shard& shard) {
  shard_ = &shard;
  back_ = std::make_unique<hub::BlockReturn>(shard);
  if (options_.gives_way) preempt_nobody();
}

void Committer::on_events(std::span<const PollEvent> /*events*/) {}

void Committer::on_mail(ShardId from, std::span<const Mail> batch) {
  for (const Mail& mail : batch) {
    if (static_cast<MailKind>(mail.kind) == MailKind::segment_wanted) {
      segment_due_ = true;
      continue;
    }
    TAUT_ASSERT(static_cast<MailKind>(mail.kind) == MailKind::journal_record);
    take(from, mail.as<JournalMail>());
  }
  brought_mail_ = true;
  if (batch.size() == SpscRing<Mail>::kBatchMax) more_to_come_ = true;
}

void Committer::take(ShardId from, const JournalMail& mail) {
  const uint64_t sequence = writer_.append({.time_ms = mail.time_ms,
                                            .shard = static_cast<uint16_t>(from),
                                            .type = mail.type,
                                            .payload = {mail.block->data() + mail.offset, mail.bytes}});
  if (mail.type == journal::RecordType::forgotten) forgotten_ = sequence;
  pending_.push_back({.block = mail.block, .bytes = mail.bytes, .from = from});
  pending_bytes_ += mail.bytes;
}

void Committer::on_timer(Timer& /*timer*/) {
  if (!pending_.empty()) commit();  // the linger is over, or it is time for another attempt
}

void Committer::flush() {
  const bool full = pending_bytes_ >= kBatchBytesMax;
  const bool brought = std::exchange(brought_mail_, false);
  if (std::exchange(more_to_come_, false) && !full) {
    again_ = true;
  } else if (stopping_) {
    flush_last(brought);
  } else if (!pending_.empty() && !refusing_) {
    if (full || options_.linger_ns == 0) {
      commit();
    } else if (!linger_.armed()) {
      shard_->timers().arm(linger_, shard_->now_ns() + options_.linger_ns);
    }
  }
  if (segment_due_ && pending_.empty() && !ended_) begin_segment();
  back_->flush();
}

/// Who asked for it asks again.
void Committer::begin_segment() {
  segment_due_ = false;
  if (const Status begun = writer_.begin_segment(); !begun)
    shard_->log().warn("the journal's next file cannot be made yet: {}", begun.error().message);
}

/// Goes on until a turn has brought nothing more.
void Committer::flush_last(bool brought_mail) {
  if (ended_) return;
  if (!pending_.empty()) commit();
  again_ = brought_mail && !refusing_;
  if (!again_) end();
}

void Committer::commit() {
  shard_->timers().cancel(linger_);
  const int64_t begin_ns = shard_->clock().mono_ns();
  const Status committed = writer_.commit();
  metrics_.commit_ns.record(shard_->clock().mono_ns() - begin_ns);
  finish(pending_.size() - writer_.pending_records());
  if (!committed) return fail(committed.error());
  metrics_.commits.add(1);
  const bool recovered = std::exchange(refusing_, false);
  if (recovered) {
    metrics_.refusing.store(0);
    shard_->log().info("the journal takes records again");
  }
  tell_shards(recovered);
  if (const Status prepared = writer_.prepare_next(); !prepared && !warned_) {
    warned_ = true;
    shard_->log().warn("the journal's next file cannot be made yet: {}", prepared.error().message);
  }
}

void Committer::finish(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Pending& record = pending_[i];
    Durable& durable = durable_[record.from];
    ++durable.records;
    durable.bytes += record.bytes;
    durable.changed = true;
    pending_bytes_ -= record.bytes;
    metrics_.bytes.add(record.bytes);
    back_->release(record.block);
  }
  metrics_.records.add(count);
  metrics_.durable.store(writer_.durable_sequence());
  if (forgotten_ > metrics_.forgotten.load() && forgotten_ <= writer_.durable_sequence())
    metrics_.forgotten.store(forgotten_);
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(count));
}

void Committer::fail(const Error& error) {
  metrics_.failures.add(1);
  metrics_.refusing.store(1);
  if (!std::exchange(refusing_, true)) {
    shard_->log().error("the journal takes nothing, {} records wait and requests are refused: {}",
                        pending_.size(), error.message);
  }
  shard_->timers().arm(retry_, shard_->now_ns() + kRetryNs);
  tell_shards(true);
}

void Committer::tell_shards(bool everybody) {
  for (ShardId id = 0; id < layout_.chat_shards; ++id) {
    Durable& durable = durable_[id];
    if (!std::exchange(durable.changed, false) && !everybody) continue;
    shard_->send(
        id, mail_of(MailKind::journal_durable,
                    DurableMail{.records = durable.records, .bytes = durable.bytes, .refusing = refusing_}));
  }
}

void Committer::stop() {
  stopping_ = true;
  again_ = true;
}

void Committer::end() {
  ended_ = true;
  shard_->timers().cancel(retry_);
  if (refusing_) {
    shard_->log().error("{} records were never written: the disk refuses", pending_.size());
  } else {
    write_end();
  }
  for (const Pending& record : pending_) back_->release(record.block);
  pending_.clear();
}

void Committer::write_end() {
  writer_.append({.time_ms = shard_->clock().wall_ms(),
                  .shard = static_cast<uint16_t>(shard_->id()),
                  .type = journal::RecordType::stopped,
                  .payload = wire::kNothing});
  if (const Status ended = writer_.commit(); !ended)
    return shard_->log().error("the end is not in the journal: {}", ended.error().message);
  writer_.close();
}

}  // namespace taut::gateway
