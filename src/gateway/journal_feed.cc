#include "gateway/journal_feed.h"

#include "base/assert.h"

namespace taut::gateway {

uint64_t JournalFeed::append(journal::RecordType type, Block& block, uint32_t offset, uint32_t bytes,
                             int64_t wall_ms) {
  TAUT_ASSERT(on());
  if (number_ == durable_) progress_ns_ = shard_.now_ns();
  shard_.pool().add_ref(&block);
  shard_.send(
      options_.committer,
      mail_of(
          MailKind::journal_record,
          JournalMail{.block = &block, .offset = offset, .bytes = bytes, .time_ms = wall_ms, .type = type}));
  bytes_ += bytes;
  metrics_.journal_records.add(1);
  metrics_.journal_undurable_bytes.store(bytes_ - durable_bytes_);
  return ++number_;
}

void JournalFeed::keep_latest(journal::RecordType type, std::string_view key, const Block& block,
                              int64_t wall_ms) {
  latest_[{type, std::string(key)}] = {.json = std::string(block.bytes()), .time_ms = wall_ms};
}

void JournalFeed::append_kept() {
  for (const auto& [what, latest] : std::exchange(latest_, {})) {
    Block* block = shard_.pool().allocate_anyway(static_cast<uint32_t>(latest.json.size()));
    block->append(latest.json);
    append(what.first, *block, 0, block->written, latest.time_ms);
    shard_.pool().release(block);
  }
}

void JournalFeed::on_durable(const DurableMail& durable) {
  TAUT_ASSERT(durable.records <= number_ && durable.records >= durable_);
  if (durable.records > durable_) progress_ns_ = shard_.now_ns();
  durable_ = durable.records;
  durable_bytes_ = durable.bytes;
  refusing_ = durable.refusing;
  metrics_.journal_undurable_bytes.store(bytes_ - durable_bytes_);
  if (!latest_.empty() && !refuses()) append_kept();
}

}  // namespace taut::gateway
