// What conversations give to the journal, at once or when the disk takes it again (of
// gateway/conversations.h).
#include <string>

#include "base/assert.h"
#include "gateway/conversations.h"
#include "gateway/frame.h"

namespace taut::gateway {

namespace {

/// Items that one turn gives to a disk that has come back.
constexpr uint32_t kCaughtUpAtOnce = 1'000;
constexpr uint32_t kStorageRetryMs = 1'000;

uint64_t append_item(JournalFeed& feed, Block& item, int64_t wall_ms) {
  const FrameHeader header = frame_header(item);
  return feed.append(journal::RecordType::item, item, header.json_offset, header.json_bytes, wall_ms);
}

}  // namespace

bool Conversations::refused_by_storage(const Requester& from, std::string_view conversation, Lane lane) {
  if (!feed_.on() || !feed_.refuses()) [[likely]]
    return false;
  metrics_.storage_refused.add(1);
  courier_.answer_now(from.connection,
                      wire::ErrorMessage{.has_ref = from.has_ref,
                                         .ref = from.ref,
                                         .conversation = conversation,
                                         .code = wire::ErrorCode::storage,
                                         .message = "the disk takes nothing now; nothing of this was kept",
                                         .retryable = true,
                                         .retry_after_ms = kStorageRetryMs},
                      lane);
  return true;
}

/// REQUIRES: the disk does not refuse; open() has asked.
void Conversations::journal_creation(ConversationRecord& record) {
  if (!feed_.on()) return;
  record.journaled_number =
      feed_.append(journal::RecordType::conversation,
                   wire::ConversationFacts{.conversation = record.machine.id(),
                                           .group = options_.groups[record.machine.group()],
                                           .visitor = record.visitor_id,
                                           .name = record.visitor_name,
                                           .subject = record.subject,
                                           .attributes = record.attributes},
                   wall_ms());
}

/// What memory loses before the disk has taken it is lost for the next start, which would find a hole. Only a
/// disk that refuses for longer than history_items events of one conversation take, or a pool that is full
/// meanwhile, comes to that.
void Conversations::require_whole(const ConversationRecord& record) const {
  const chat::ItemLog& items = record.machine.items();
  if (items.first_seq() <= record.journaled_seq + 1) return;
  end_process("the disk has refused for so long that events leave memory which are not on it: conversation " +
              std::string(record.machine.id()) + "; start again when there is room");
}

/// What the disk does not take stays in the conversation's memory and follows from there.
void Conversations::journal_event(ConversationRecord& record, Block& item) {
  if (feed_.on() && feed_.refuses()) {
    require_whole(record);
    return fall_behind(record);
  }
  journal_item(record, item);
}

/// The item that is about to be appended, whatever waits: a message is let in by refused_by_storage(), and
/// its durable ack is to wait for its own record.
void Conversations::journal_item(ConversationRecord& record, Block& item) {
  if (!feed_.on()) return;
  if (record.behind) catch_up(record);
  record.journaled_number = append_item(feed_, item, wall_ms());
  record.journaled_seq = record.machine.last_seq() + 1;
}

void Conversations::journal_receipts(ConversationRecord& record) {
  if (!feed_.on()) return;
  if (feed_.refuses()) return fall_behind(record);
  if (record.behind) return catch_up(record);
  write_receipts(record);
}

void Conversations::write_receipts(ConversationRecord& record) {
  const auto mark = [&](chat::Side side, chat::ReceiptLevel level) {
    return record.machine.mark_of(side, level);
  };
  record.journaled_number =
      feed_.append(journal::RecordType::receipts,
                   wire::Marks{.conversation = record.machine.id(),
                               .visitor_delivered = mark(chat::Side::visitor, chat::ReceiptLevel::delivered),
                               .visitor_read = mark(chat::Side::visitor, chat::ReceiptLevel::read),
                               .agent_delivered = mark(chat::Side::agent, chat::ReceiptLevel::delivered),
                               .agent_read = mark(chat::Side::agent, chat::ReceiptLevel::read),
                               .marked_by = record.signals.marked_by.view()},
                   wall_ms());
}

void Conversations::journal_block(std::string_view visitor, uint32_t seconds) {
  if (!feed_.on()) return;
  const int64_t until_ms = seconds == 0 ? 0 : wall_ms() + int64_t{seconds} * 1'000;
  feed_.append_latest(journal::RecordType::block, visitor,
                      wire::VisitorBlocked{.visitor = visitor, .until_ms = static_cast<uint64_t>(until_ms)},
                      wall_ms());
}

void Conversations::fall_behind(ConversationRecord& record) {
  if (record.behind) return;
  record.behind = true;
  behind_.push_back(record.self);
  feed_.owe();
  metrics_.journal_behind.store(behind_.size());
}

void Conversations::on_durable(const DurableMail& durable) {
  feed_.on_durable(durable);
  courier_.release_durable();
  answer_forgotten(false);
}

void Conversations::catch_up() {
  uint64_t until = feed_.number() + kCaughtUpAtOnce;
  while (may_catch_up() && feed_.number() < until) {
    ConversationRecord* record = records_.find(behind_.back());
    behind_.pop_back();
    if (record != nullptr && record->behind) catch_up(*record);
  }
  metrics_.journal_behind.store(behind_.size());
  if (!behind_.empty()) return;
  feed_.settle();
  courier_.release_durable();  // where it was given with a message that came first, it may be durable already
}

void Conversations::catch_up(ConversationRecord& record) {
  require_whole(record);
  record.behind = false;
  const chat::ItemLog& items = record.machine.items();
  for (uint64_t seq = record.journaled_seq + 1; seq <= items.last_seq(); ++seq) {
    record.journaled_number = append_item(feed_, *static_cast<Block*>(items.at(seq).body), wall_ms());
  }
  record.journaled_seq = items.last_seq();
  write_receipts(record);
}

}  // namespace taut::gateway
