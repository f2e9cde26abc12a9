#include "chat/conversation.h"

#include <algorithm>
#include <utility>

namespace taut::chat {

Conversation::Conversation(std::string_view id, GroupId group, const Options& options,
                           std::pmr::memory_resource& memory)
    : id_(id), group_(group), ends_(&memory), log_(options.items_max, memory), windows_(memory) {
  TAUT_ASSERT(group < kGroupsMax);
  ends_.push_back({.first = 1, .epoch = 1, .last = 0});
}

Conversation::~Conversation() = default;

// -- Messages --

void Conversation::expect_send(const Party& sender, IdHash id) {
  if (const DedupWindow* window = windows_.find(sender.kind, sender.id)) window->prefetch(id);
}

SendDecision Conversation::on_send(const Party& sender, IdHash id, uint64_t body_hash, ItemKind kind) {
  TAUT_ASSERT(opening_ > 0 && !event_due_);
  pending_.due = false;
  if (const DedupWindow* window = windows_.find(sender.kind, sender.id)) {
    const DedupWindow::Found found = window->find(id, body_hash);
    if (found.verdict == DedupWindow::Verdict::conflict) return {.code = Code::id_conflict};
    if (found.verdict == DedupWindow::Verdict::same) {
      return {.dup = true, .epoch = found.epoch, .seq = found.seq, .ts_ms = found.ts_ms};
    }
  }
  if (const Code code = may_send(sender, kind); code != Code::ok) return {.code = code};
  const bool would_accept = state_ == ConversationState::assigned && acts_as_owner(sender);
  const bool accepts = would_accept && contests_ == 0;
  pending_ = {.due = true,
              .accepts = accepts,
              .sender = sender.kind,
              .sender_id = InlineId(sender.id),
              .id = id,
              .body_hash = body_hash,
              .kind = kind};
  return {.accepts = accepts,
          .contested = would_accept && !accepts,
          .epoch = epoch(),
          .seq = last_seq() + (accepts ? 2 : 1)};
}

void* Conversation::append_message(void* body, int64_t ts_ms) {
  TAUT_ASSERT(pending_.due && !pending_.accepts && !event_due_);
  pending_.due = false;
  void* evicted = push({.body = body, .ts_ms = ts_ms, .epoch = epoch(), .kind = pending_.kind});
  windows_.get(pending_.sender, pending_.sender_id.view())
      .add(pending_.id, pending_.body_hash, epoch(), last_seq(), ts_ms);
  return evicted;
}

void* Conversation::append_event(void* body, int64_t ts_ms) {
  EventKind event = EventKind::accepted;
  if (event_due_) {
    event = *std::exchange(event_due_, std::nullopt);
  } else {
    TAUT_ASSERT(pending_.due && pending_.accepts);
    pending_.accepts = false;
    enter({.event = event});
  }
  return push({.body = body, .ts_ms = ts_ms, .epoch = epoch(), .kind = ItemKind::event, .event = event});
}

Code Conversation::may_send(const Party& sender, ItemKind kind) const {
  if (sender.kind == PartyKind::visitor && kind == ItemKind::note) return Code::forbidden;
  if (state_ == ConversationState::closed) return Code::closed;
  if (sender.kind != PartyKind::agent || acts_as_owner(sender)) return Code::ok;
  return kind == ItemKind::note && sender.in_group ? Code::ok : Code::not_yours;
}

void* Conversation::push(const Item& item) {
  void* evicted = log_.push(item);
  ends_.back().last = log_.last_seq();
  return evicted;
}

// -- Requests by a party --

Change Conversation::open() {
  TAUT_ASSERT(opening_ == 0);
  return change_by({.event = EventKind::opened});
}

Change Conversation::reopen() {
  TAUT_ASSERT(opening_ > 0);
  if (state_ != ConversationState::closed) return {};
  return change_by({.event = EventKind::reopened});
}

Change Conversation::accept(const Party& agent) {
  if (state_ == ConversationState::closed) return {.code = Code::closed};
  if (!acts_as_owner(agent)) {
    const bool by_another = state_ == ConversationState::active && !owned_by(agent.id);
    return {.code = by_another ? Code::taken : Code::not_yours};
  }
  if (state_ == ConversationState::active) return {};
  if (contests_ > 0) return {.contested = true};
  return change_by({.event = EventKind::accepted});
}

Code Conversation::decline(const Party& agent) {
  if (state_ == ConversationState::closed) return Code::closed;
  if (!acts_as_owner(agent)) return Code::not_yours;
  if (state_ == ConversationState::active) return Code::taken;
  declined_ = true;
  pending_.due = false;
  return Code::ok;
}

Code Conversation::may_act(const Party& agent) const {
  if (state_ == ConversationState::closed) return Code::closed;
  return acts_as_owner(agent) ? Code::ok : Code::not_yours;
}

Change Conversation::close(const Party& by) {
  if (state_ == ConversationState::closed) return {.code = Code::closed};
  if (by.kind == PartyKind::agent && !acts_as_owner(by)) return {.code = Code::not_yours};
  return change_by({.event = EventKind::closed});
}

Change Conversation::rate() {
  if (state_ != ConversationState::closed) return {.code = Code::forbidden};
  if (rated()) return {};
  return change_by({.event = EventKind::rated});
}

// -- Decisions of the dispatcher --

Change Conversation::apply(const Assign& decision, std::string_view agent_id) {
  if (stale(decision.opening, decision.owner_epoch)) return {};
  const bool transferred = owner_ && decision.reason == Reason::transferred;
  Change change = change_by(
      {.event = transferred ? EventKind::transferred : EventKind::assigned,
       .owner = {.key = decision.agent, .id = InlineId(agent_id), .owner_epoch = decision.owner_epoch},
       .owner_epoch = decision.owner_epoch});
  change.gained = true;
  change.lost_reason = decision.reason;
  return change;
}

Change Conversation::apply_accept(const Assign& decision) {
  --contests_;
  const bool ours = decision.opening == opening_ && decision.owner_epoch == owner_epoch_;
  if (!ours || state_ != ConversationState::assigned) return {};
  return change_by({.event = EventKind::accepted});
}

Change Conversation::apply(const Requeue& decision) {
  if (stale(decision.opening, decision.owner_epoch)) return {};
  const bool given = decision.reason == Reason::transferred;
  Change change = change_by({.event = given ? EventKind::transferred : EventKind::requeued,
                             .group = decision.group,
                             .owner_epoch = decision.owner_epoch});
  change.reason = change.lost_reason = decision.reason;
  return change;
}

bool Conversation::apply(const OwnerMoved& decision) {
  const bool ours = owner_ && decision.opening == opening_ && decision.owner_epoch == owner_epoch_;
  if (!ours || owner_.key == decision.agent) return false;
  owner_.key = decision.agent;
  return true;
}

bool Conversation::acts_as_owner(const Party& party) const {
  return party.kind == PartyKind::agent && owned_by(party.id) && !declined_ &&
         (party.owner_epoch == 0 || party.owner_epoch == owner_epoch_);
}

Change Conversation::change_by(const Step& step) {
  TAUT_ASSERT((opening_ > 0 || step.event == EventKind::opened) && !event_due_);
  pending_.due = false;
  const Owner lost = enter(step);
  event_due_ = step.event;
  return {.changed = true,
          .event = step.event,
          .epoch = epoch(),
          .seq = last_seq() + 1,
          .owner_epoch = owner_epoch_,
          .lost = lost};
}

Owner Conversation::enter(const Step& step) {
  switch (step.event) {
    case EventKind::opened:
    case EventKind::reopened:
      ++opening_;
      state_ = ConversationState::queued;
      return {};
    case EventKind::assigned:
    case EventKind::transferred:
    case EventKind::requeued: {
      const Owner lost = take_owner();
      owner_ = step.owner;
      owner_epoch_ = step.owner_epoch;
      if (step.group != kNoGroup) group_ = step.group;
      state_ = owner_ ? ConversationState::assigned : ConversationState::queued;
      return lost;
    }
    case EventKind::accepted:
      declined_ = false;
      state_ = ConversationState::active;
      return {};
    case EventKind::closed:
      state_ = ConversationState::closed;
      return take_owner();
    case EventKind::rated:
      rated_opening_ = opening_;
      return {};
    case EventKind::note_hidden:
      break;
  }
  TAUT_UNREACHABLE("an event that no conversation has");
}

Owner Conversation::take_owner() {
  declined_ = false;
  return std::exchange(owner_, Owner{});
}

bool Conversation::stale(uint32_t opening, uint32_t owner_epoch) const {
  return state_ == ConversationState::closed || opening != opening_ || owner_epoch <= owner_epoch_;
}

// -- Reading --

ResumePlan Conversation::plan_resume(uint32_t epoch, uint64_t seq) const {
  return chat::plan_resume(ends_, log_.first_seq(), epoch, seq);
}

Page Conversation::history(uint64_t before, uint32_t limit) const {
  const uint64_t first = log_.first_seq();
  const uint64_t end = before == 0 ? last_seq() : std::min(before - 1, last_seq());
  const uint64_t wanted = std::min(limit, kPageItemsMax);
  if (end < first || wanted == 0) return {.evicted = first > 1};
  const uint64_t from = end - first < wanted ? first : end - wanted + 1;
  return {.from = from, .to = end, .more = from > first, .evicted = from == first && first > 1};
}

// -- Receipts --

MarkResult Conversation::mark(Side side, ReceiptLevel level, uint64_t seq) {
  if (seq > last_seq()) return MarkResult::beyond_end;
  uint64_t& mark = marks_[static_cast<size_t>(side)][static_cast<size_t>(level)];
  if (seq <= mark) return MarkResult::unchanged;
  mark = seq;
  return MarkResult::moved;
}

uint64_t Conversation::mark_of(Side side, ReceiptLevel level) const {
  return marks_[static_cast<size_t>(side)][static_cast<size_t>(level)];
}

}  // namespace taut::chat
