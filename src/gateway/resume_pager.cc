#include "gateway/resume_pager.h"

#include <algorithm>

#include "chat/types.h"
#include "gateway/conversations.h"
#include "gateway/item_frames.h"

namespace taut::gateway {

void ResumePager::start(Handle connection, const ConversationRecord& record, uint64_t next,
                        bool for_visitor) {
  Cursor& cursor = cursors_.emplace();
  cursor.connection = connection;
  cursor.conversation = record.self;
  cursor.conversation_id = chat::InlineId(record.machine.id());
  cursor.next = next;
  cursor.for_visitor = for_visitor;
  send_page(cursor);
}

void ResumePager::on_page_taken(const PageTaken& taken) {
  const Handle handle = Handle::from_bits(taken.cursor);
  if (cursors_.find(handle) == nullptr) return;
  if (taken.gone) {
    cursors_.erase(handle);
  } else {
    ready_.push_back(handle);
  }
}

void ResumePager::continue_work() {
  const size_t count = ready_.size();
  for (size_t i = 0; i < count; ++i) {
    if (Cursor* cursor = cursors_.find(ready_[i]); cursor != nullptr) send_page(*cursor);
  }
  ready_.erase(ready_.begin(), ready_.begin() + static_cast<std::ptrdiff_t>(count));
}

void ResumePager::send_page(Cursor& cursor) {
  ConversationRecord* record = conversations_.find(cursor.conversation);
  if (record == nullptr) return finish(cursor);
  const chat::ItemLog& items = record->machine.items();
  const uint64_t last = record->machine.last_seq();
  if (cursor.next < items.first_seq()) say_expired(cursor, *record);
  uint64_t seq = cursor.next;
  const uint64_t end = std::min(last, seq + chat::kPageItemsMax - 1);
  const bool more = end < last;
  cursor.next = end + 1;
  for (; seq <= end; ++seq) {
    Block* frame = item_frame_for(shard_.pool(), *record, seq, cursor.for_visitor);
    const bool page_end = more && seq == end;
    courier_.deliver({.to = cursor.connection,
                      .conversation = cursor.conversation,
                      .frame = frame,
                      .cursor = cursor.self.bits(),
                      .lane = page_end ? Lane::page_end : Lane::page});
  }
  if (!more) finish(cursor);
}

/// Items were evicted since the last page was sent.
void ResumePager::say_expired(Cursor& cursor, const ConversationRecord& record) {
  const uint64_t first = record.machine.items().first_seq();
  Block* gap = make_frame(shard_.pool(), wire::Gap{.conversation = record.machine.id(),
                                                   .epoch = record.machine.epoch(),
                                                   .from = cursor.next,
                                                   .to = first - 1,
                                                   .reason = wire::GapReason::expired});
  courier_.deliver(
      {.to = cursor.connection, .conversation = cursor.conversation, .frame = gap, .lane = Lane::page});
  cursor.next = first;
}

void ResumePager::finish(Cursor& cursor) {
  const ConversationRecord* record = conversations_.find(cursor.conversation);
  Block* frame = nullptr;
  if (record != nullptr) {
    conversations_.signals().tell_marks(*record, cursor.connection, cursor.for_visitor);
    frame = make_frame(shard_.pool(), wire::Resumed{.conversation = record->machine.id(),
                                                    .epoch = record->machine.epoch(),
                                                    .seq = record->machine.last_seq()});
  } else {
    frame = make_frame(shard_.pool(), wire::Gap{.conversation = cursor.conversation_id.view(),
                                                .reason = wire::GapReason::no_such_conversation});
  }
  courier_.deliver(
      {.to = cursor.connection, .conversation = cursor.conversation, .frame = frame, .lane = Lane::release});
  cursors_.erase(cursor.self);
}

}  // namespace taut::gateway
