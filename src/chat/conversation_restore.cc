// A conversation made again from what was appended to it (the restoring of chat/conversation.h).
#include <string>

#include "chat/conversation.h"

namespace taut::chat {

namespace {

/// Ends of epochs kept per conversation; a cursor of an older one gets `unknown_epoch`. Each stands for a
/// crash behind which items came.
constexpr size_t kEpochsKept = 64;

}  // namespace

Result<void*> Conversation::restore_message(const RestoredMessage& message, void* body) {
  if (const Status status = follows(message.epoch, message.seq); !status) {
    return std::unexpected(status.error());
  }
  if (opening_ == 0) return fail("a message before the conversation was opened");
  if (state_ == ConversationState::closed) return fail("a message while the conversation is closed");
  const DedupWindow* window = windows_.find(message.sender, message.sender_id);
  if (window != nullptr &&
      window->find(message.id, message.body_hash).verdict != DedupWindow::Verdict::fresh) {
    return fail("a message whose client_msg_id was there before");
  }
  windows_.get(message.sender, message.sender_id)
      .add(message.id, message.body_hash, message.epoch, message.seq, message.ts_ms);
  return push({.body = body, .ts_ms = message.ts_ms, .epoch = message.epoch, .kind = message.kind});
}

Result<void*> Conversation::restore_event(const RestoredEvent& event, void* body) {
  if (const Status status = follows(event.epoch, event.seq); !status) {
    return std::unexpected(status.error());
  }
  if (const std::string_view fault = fault_of(event); !fault.empty()) {
    return fail(std::string(name(event.event)).append(": ").append(fault));
  }
  const bool gained = event.event == EventKind::assigned || event.event == EventKind::transferred;
  enter({.event = event.event,
         .owner = gained && !event.agent.empty()
                      ? Owner{.id = InlineId(event.agent), .owner_epoch = event.owner_epoch}
                      : Owner{},
         .group = event.group,
         .owner_epoch = event.owner_epoch});
  return push({.body = body,
               .ts_ms = event.ts_ms,
               .epoch = event.epoch,
               .kind = ItemKind::event,
               .event = event.event});
}

Status Conversation::follows(uint32_t epoch, uint64_t seq) const {
  TAUT_ASSERT(!event_due_);
  if (epoch != this->epoch()) {
    return fail("epoch " + std::to_string(epoch) + " where " + std::to_string(this->epoch()) + " is due");
  }
  if (seq != last_seq() + 1) {
    return fail("seq " + std::to_string(seq) + " does not follow " + std::to_string(last_seq()));
  }
  return {};
}

std::string_view Conversation::fault_of(const RestoredEvent& event) const {
  const bool closed = state_ == ConversationState::closed;
  const bool to_group = event.agent.empty();
  if ((event.event == EventKind::opened) != (opening_ == 0))
    return "the conversation is opened first, and once";
  switch (event.event) {
    case EventKind::assigned:
    case EventKind::transferred:
    case EventKind::requeued:
      if (closed) return "the conversation is closed";
      if (event.owner_epoch <= owner_epoch_) return "its owner_epoch is not a new one";
      if (event.event == EventKind::requeued || (event.event == EventKind::transferred && to_group)) {
        return event.group < kGroupsMax ? "" : "no group gets it";
      }
      if (to_group) return "nobody gets it";
      return event.event == EventKind::assigned || owner_ ? "" : "nobody had it";
    case EventKind::note_hidden:
      return "never an item";
    case EventKind::opened:
      return "";
    case EventKind::accepted:
      if (state_ != ConversationState::assigned || !owned_by(event.agent))
        return "not assigned to that agent";
      break;
    case EventKind::closed:
      if (closed) return "the conversation is closed";
      break;
    case EventKind::reopened:
      if (!closed) return "the conversation is open";
      break;
    case EventKind::rated:
      if (!closed || rated()) return "the conversation is open, or was rated";
      break;
  }
  return event.owner_epoch == owner_epoch_ ? "" : "its owner_epoch is not the conversation's";
}

void Conversation::start_epoch() {
  TAUT_ASSERT(!event_due_);
  pending_.due = false;
  const uint32_t next = epoch() + 1;
  const bool had_items = ends_.size() == 1 || ends_[ends_.size() - 2].last < last_seq();
  if (!had_items) {
    // Clients may have been told its number, so it is not forgotten, but it ended where the one before did.
    ends_[ends_.size() - 2].epoch = epoch();
    ends_.pop_back();
  } else if (ends_.size() == kEpochsKept) {
    ends_.erase(ends_.begin());
  }
  ends_.push_back({.first = next, .epoch = next, .last = last_seq()});
}

void Conversation::copy_state(const Conversation& other) {
  TAUT_ASSERT(other.id() == id() && opening_ == 0 && last_seq() == 0 && !other.event_due_);
  group_ = other.group_;
  state_ = other.state_;
  contests_ = other.contests_;
  declined_ = other.declined_;
  opening_ = other.opening_;
  rated_opening_ = other.rated_opening_;
  owner_epoch_ = other.owner_epoch_;
  owner_ = other.owner_;
  marks_ = other.marks_;
  ends_ = other.ends_;
  log_.begin_at(other.log_.first_seq());
  windows_.copy(other.windows_);
}

}  // namespace taut::chat
