#include "gateway/archive.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "core/this_thread.h"

namespace taut::gateway {

Archive::Archive(store::HistoryStore& store, FileSystem& files, Options options, const Cell& durable,
                 ArchiveMetrics& metrics)
    : store_(store), files_(files), options_(std::move(options)), durable_(durable), metrics_(metrics) {}

Archive::~Archive() {
  if (shard_ != nullptr) shard_->timers().cancel(look_);
}

void Archive::start(Shard& shard) {
  shard_ = &shard;
  preempt_nobody();
  due_ = true;
  backlog_ = true;
}

void Archive::stop() {
  stopping_ = true;
  backlog_ = false;
}

void Archive::flush() {
  if (std::exchange(due_, false) && !stopping_) look();
}

// -- questions --

void Archive::on_mail(ShardId /*from*/, std::span<const Mail> batch) {
  for (const Mail& mail : batch) {
    if (mail.kind == static_cast<uint32_t>(MailKind::older_wanted)) {
      answer(mail.as<OlderPageMail>());
    } else {
      TAUT_ASSERT(mail.kind == static_cast<uint32_t>(MailKind::archive_asked));
      answer(mail.as<ArchiveMail>());
    }
  }
}

void Archive::answer(const OlderPageMail& mail) {
  OlderPageMail answered = mail;
  answered.outcome = OlderPageOutcome::failed;
  if (ready()) {
    const auto outcome = answer_older_page(store_, options_.groups, !backlog_, *mail.block);
    if (outcome) {
      answered.outcome = *outcome;
      metrics_.questions.add(1);
    } else {
      failed(outcome.error());
    }
  }
  shard_->send(mail.asker.shard(), mail_of(MailKind::older_found, answered));
}

void Archive::answer(const ArchiveMail& mail) {
  HttpAnswer& answer = mail.question->answer;
  answer = {.status = 503, .problem = "the history does not answer now"};
  if (ready()) {
    Result<HttpAnswer> found = this->answer(*mail.question);
    if (found) {
      answer = *std::move(found);
      metrics_.questions.add(1);
    } else {
      failed(found.error());
    }
  }
  shard_->send(mail.asker.shard(), mail_of(MailKind::archive_answered, mail));
}

/// What a visitor who was forgotten had here is known from when the record was applied, once.
Result<HttpAnswer> Archive::answer(ArchiveQuestion& question) {
  if (question.kind != ArchiveQuestion::Kind::forgotten) return answer_of(store_, question);
  if (backlog_) return HttpAnswer{};
  const auto removed = removed_.find(question.id);
  question.removed = removed == removed_.end() ? store::Removal{} : removed->second;
  if (removed != removed_.end()) removed_.erase(removed);
  return HttpAnswer{};
}

bool Archive::ready() {
  const bool asked = !stopping_ && shard_->clock().mono_ns() >= retry_at_ns_ && project();
  if (!asked) metrics_.refused.add(1);
  return asked;
}

// -- projecting --

void Archive::look() {
  const int64_t now_ns = shard_->clock().mono_ns();
  const bool done = now_ns >= retry_at_ns_ && project();
  if (!done) backlog_ = false;
  // With a backlog, too: a question may take the rest of it before the next look.
  shard_->timers().arm(look_, std::max(retry_at_ns_, shard_->clock().mono_ns() + kLookNs));
}

bool Archive::project() {
  Status done = follower_ ? Status() : begin();
  if (done) done = project_batch();
  if (done) done = keep_house();
  if (!done) {
    failed(done.error());
    return false;
  }
  succeeded();
  return true;
}

Status Archive::begin() {
  const Result<uint64_t> position = store_.position();
  if (!position) return std::unexpected(position.error());
  if (*position > durable_.load()) {
    return fail("the history has record " + std::to_string(*position) + ", and the journal ends at " +
                std::to_string(durable_.load()) + ": they do not belong together; name another --store");
  }
  metrics_.position.store(*position);
  metrics_.safe.store(0);
  batch_.clear();
  follower_.emplace(files_, options_.directory, *position);
  return {};
}

Status Archive::project_batch() {
  const uint64_t durable = durable_.load();
  const Result<size_t> read = follower_->read(
      durable, options_.batch, [this](const journal::Record& record) { return batch_.add(record); });
  if (!read) return std::unexpected(read.error());
  backlog_ = follower_->position() < durable;
  if (batch_.empty()) return {};
  if (Status removed = remove_forgotten(); !removed) return removed;
  if (Status applied = store_.apply(batch_.records()); !applied) return applied;
  batch_.clear();
  metrics_.position.store(follower_->position());
  metrics_.batches.add(1);
  return {};
}

/// The record does it, too, and for what the batch itself brings; but whoever asked wants to know how much it
/// was.
Status Archive::remove_forgotten() {
  for (const store::StoredRecord& record : batch_.records()) {
    const auto* forgotten = std::get_if<store::Forgotten>(&record.content);
    if (forgotten == nullptr) continue;
    const Result<store::Removal> removed = store_.remove_visitor(forgotten->visitor);
    if (!removed) return std::unexpected(removed.error());
    if (removed_.size() >= kRemovedMax) removed_.clear();
    store::Removal& sum = removed_[std::string(forgotten->visitor)];
    sum.conversations += removed->conversations;
    sum.items += removed->items;
    sum.bytes += removed->bytes;
  }
  return {};
}

/// It may fail for want of room, and history is kept all the same.
void Archive::wipe_some() {
  const int64_t now_ns = shard_->clock().mono_ns();
  if (now_ns < wipe_at_ns_) return;
  const Result<bool> more = store_.wipe_some();
  if (more) {
    if (metrics_.wiping.load() != 0 && !*more) wipe_at_ns_ = now_ns + kWipeNs;
    return metrics_.wiping.store(*more ? 1 : 0);
  }
  wipe_at_ns_ = now_ns + kWipeNs;
  metrics_.wiping.store(1);
  shard_->log().warn("texts that were removed are still in the store's files: {}", more.error().message);
}

/// From time to time: what the journal may forget, and what is too old.
Status Archive::keep_house() {
  const int64_t now_ns = shard_->clock().mono_ns();
  if (metrics_.safe.load() != follower_->position() && now_ns >= sync_at_ns_) {
    sync_at_ns_ = now_ns + kSyncNs;
    if (Status synced = store_.sync(); !synced) return synced;
    metrics_.safe.store(follower_->position());
  }
  if (!backlog_) wipe_some();
  if (options_.retention_ms == 0 || backlog_ || now_ns < expire_at_ns_) return {};
  const Result<store::Removal> expired =
      store_.expire(shard_->clock().wall_ms() - options_.retention_ms, kExpiredAtOnce);
  if (!expired) return std::unexpected(expired.error());
  metrics_.expired.add(expired->conversations);
  const bool done = expired->conversations < kExpiredAtOnce;
  expire_at_ns_ = now_ns + (done ? kExpireNs : kLookNs);
  return {};
}

void Archive::succeeded() {
  metrics_.failing.store(0);
  retry_at_ns_ = 0;
  if (std::exchange(pause_ns_, 0) != 0) shard_->log().info("the history is kept again");
  complaint_.clear();
}

/// What is in the store is not known any more: the next attempt asks.
void Archive::failed(const Error& error) {
  follower_.reset();
  metrics_.failures.add(1);
  metrics_.failing.store(1);
  pause_ns_ = std::clamp(2 * pause_ns_, kPauseNsMin, kPauseNsMax);
  retry_at_ns_ = shard_->clock().mono_ns() + pause_ns_;
  if (std::exchange(complaint_, error.message) == error.message) return;
  shard_->log().error("the history is not kept now, and what is asked of it is refused: {}", error.message);
}

}  // namespace taut::gateway
