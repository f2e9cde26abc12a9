// What the dispatcher decided, carried out, and who hears of it (the decisions of gateway/conversations.h).
#include <variant>

#include "base/assert.h"
#include "gateway/conversations.h"
#include "gateway/item_frames.h"
#include "gateway/message_hash.h"
#include "gateway/wire_terms.h"

namespace taut::gateway {

// -- from the dispatcher --

void Conversations::decide(const chat::Effect& effect) {
  std::visit([this](const auto& decision) { decide(decision); }, effect);
}

void Conversations::decide(const chat::Assign& decision) {
  ConversationRecord* record = records_.find(decision.conversation);
  if (record == nullptr) return;
  TAUT_ASSERT(decision.agent_index < agents_.size());
  answer_openers(*record);
  const chat::Change change = record->machine.apply(decision, agents_[decision.agent_index].view());
  if (change.changed) {
    metrics_.assignments.add(1);
    record->position = {};
    record->agent = decision.agent_index;
    push_to_visitor(*record, append(*record, change), Handle{});
    if (change.lost.key) tell_unassigned(*record, change.lost, change.lost_reason);
  }
  if (decision.accepted) accept_taken(*record, decision, change.gained);
  if (change.gained) tell_assigned(*record, record->machine.owner().key, Handle{}, Lane::live_assigned);
}

/// Who took it has accepted it. A new owner gets `assigned` behind both events, one who had the offer before
/// the event.
void Conversations::accept_taken(ConversationRecord& record, const chat::Assign& decision, bool gained) {
  const chat::Change change = record.machine.apply_accept(decision);
  if (!change.changed) return;
  Block* item = append(record, change);
  push_to_visitor(record, item, Handle{});
  if (!gained) push_to_owner(record, item, Handle{});
}

void Conversations::decide(const chat::Requeue& decision) {
  ConversationRecord* record = records_.find(decision.conversation);
  if (record == nullptr) return;
  const chat::Change change = record->machine.apply(decision);
  if (!change.changed) return;
  metrics_.requeues.add(1);
  record->agent = chat::kNoAgent;
  Block* item = append(*record, change);
  push_to_visitor(*record, item, Handle{});
  if (change.lost.key) tell_unassigned(*record, change.lost, change.lost_reason);
}

void Conversations::decide(const chat::OwnerMoved& decision) {
  ConversationRecord* record = records_.find(decision.conversation);
  if (record == nullptr || !record->machine.apply(decision)) return;
  tell_assigned(*record, record->machine.owner().key, Handle{}, Lane::live_assigned);
}

void Conversations::decide(const chat::Position& position) {
  ConversationRecord* record = records_.find(position.conversation);
  if (record == nullptr || record->machine.opening() != position.opening) return;
  if (record->machine.state() != chat::ConversationState::queued ||
      record->position.position == position.position)
    return;
  record->position = position;
  if (!record->openers.empty()) return answer_openers(*record);
  Block* frame = make_frame_anyway(shard_.pool(), wire::Queue{.conversation = record->machine.id(),
                                                              .position = position.position,
                                                              .has_eta = position.has_eta,
                                                              .eta_ms = position.eta_ms});
  courier_.deliver({.to = record->visitor,
                    .conversation = record->self,
                    .frame = frame,
                    .lane = Lane::live,
                    .to_endpoint = true});
}

// -- items --

Block* Conversations::append(ConversationRecord& record, const chat::Change& change) {
  // The owner of one that has one; of one that waits the group in whose queue it is.
  const bool queued = record.machine.state() == chat::ConversationState::queued;
  return append_event(
      record,
      {.conversation = record.machine.id(),
       .epoch = change.epoch,
       .seq = change.seq,
       .event = wire_term(change.event),
       .agent = record.machine.owner().id.view(),
       .group = queued ? std::string_view(options_.groups[record.machine.group()]) : std::string_view{},
       .reason = change.event == chat::EventKind::requeued ? chat::name(change.reason) : std::string_view{},
       .owner_epoch = change.owner_epoch,
       .ts = static_cast<uint64_t>(wall_ms())});
}

Block* Conversations::append_event(ConversationRecord& record, const wire::Event& event) {
  if (event.event == wire::EventKind::accepted) last_agents_.note(hash_of_visitor(record), record.agent);
  Block* item = make_frame_anyway(shard_.pool(), event);
  journal_event(record, *item);
  release(record.machine.append_event(item, static_cast<int64_t>(event.ts)));
  // Nobody can refuse an event. In a full pool it takes the place of the conversation's oldest item, so that
  // assignments that nobody accepts do not use up what short_of_memory() leaves for answers.
  if (short_of_memory()) release(record.machine.drop_oldest_item());
  return item;
}

void Conversations::release(void* evicted) {
  if (evicted == nullptr) return;
  metrics_.items_evicted.add(1);
  shard_.pool().release(static_cast<Block*>(evicted));
}

// -- who hears of it --

void Conversations::push_event(ConversationRecord& record, Block* item, Handle except) {
  push_to_visitor(record, item, except);
  push_to_owner(record, item, except);
}

void Conversations::push_to_visitor(ConversationRecord& record, Block* item, Handle except) {
  if (record.visitor) give(record.visitor, except, record, item, Lane::live);
}

void Conversations::push_to_owner(ConversationRecord& record, Block* item, Handle except) {
  if (record.machine.owner().key) give(record.machine.owner().key, except, record, item, Lane::live);
}

/// Before anybody else has the frame.
void Conversations::stamp_message(Block& item, uint64_t seq, const chat::Owner& owner) {
  tracer_.lap(Stage::route);
  if (owner.key && owner.key.shard() != shard_.id()) tracer_.leave();
  Trace trace = tracer_.current();
  trace.seq = seq;
  set_trace(item, trace);
}

void Conversations::push_message(ConversationRecord& record, Block* item, chat::ItemKind kind, uint64_t seq,
                                 const Requester& from) {
  stamp_message(*item, seq, record.machine.owner());
  const bool to_others = from.other_connections || courier_.holds();
  const bool to_other_visitors = from.kind != chat::PartyKind::visitor || to_others;
  if (to_other_visitors && record.visitor) {
    if (kind == chat::ItemKind::note) {
      courier_.deliver({.to = record.visitor,
                        .conversation = record.self,
                        .frame = make_hidden_note(shard_.pool(), record, seq),
                        .lane = Lane::live,
                        .to_endpoint = true});
    } else {
      give(record.visitor, from.connection, record, item, Lane::live);
    }
  }
  const chat::Owner& owner = record.machine.owner();
  const bool sender_alone = owner.key == from.endpoint && !to_others;
  if (owner.key && !sender_alone) give(owner.key, from.connection, record, item, Lane::live);
  // The sender's other connections, when it is an agent who does not own the conversation: they ask for
  // history.
}

void Conversations::give(Handle endpoint, Handle except, const ConversationRecord& record, Block* item,
                         Lane lane) {
  shard_.pool().add_ref(item);
  courier_.deliver({.to = endpoint,
                    .except = except,
                    .conversation = record.self,
                    .frame = item,
                    .lane = lane,
                    .to_endpoint = true});
}

void Conversations::tell_assigned(const ConversationRecord& record, Handle endpoint, Handle connection,
                                  Lane lane) {
  const chat::Conversation& machine = record.machine;
  const bool waits = machine.state() == chat::ConversationState::assigned;
  Block* frame = make_frame_anyway(shard_.pool(), wire::Assigned{.conversation = machine.id(),
                                                                 .visitor_id = record.visitor_id,
                                                                 .visitor_name = record.visitor_name,
                                                                 .visitor_attributes = record.attributes,
                                                                 .group = options_.groups[machine.group()],
                                                                 .subject = record.subject,
                                                                 .owner_epoch = machine.owner_epoch(),
                                                                 .accept_ms = waits ? options_.accept_ms : 0,
                                                                 .epoch = machine.epoch(),
                                                                 .seq = machine.last_seq()});
  courier_.deliver({.to = endpoint ? endpoint : connection,
                    .conversation = record.self,
                    .frame = frame,
                    .owner_epoch = machine.owner_epoch(),
                    .lane = lane,
                    .to_endpoint = static_cast<bool>(endpoint)});
}

void Conversations::tell_unassigned(const ConversationRecord& record, const chat::Owner& lost,
                                    chat::Reason reason) {
  Block* frame = make_frame_anyway(shard_.pool(), wire::Unassigned{.conversation = record.machine.id(),
                                                                   .owner_epoch = lost.owner_epoch,
                                                                   .reason = wire_term(reason)});
  courier_.deliver({.to = lost.key,
                    .conversation = record.self,
                    .frame = frame,
                    .lane = Lane::live_unassigned,
                    .to_endpoint = true});
}

uint64_t Conversations::hash_of_visitor(const ConversationRecord& record) const {
  return hash_id(record.visitor_id, options_.hash_seed).high;
}

void Conversations::tell_dispatcher(MailKind kind, const ConversationRecord& record) {
  const chat::Conversation& machine = record.machine;
  if (kind == MailKind::conversation_opened) {
    shard_.send(options_.dispatcher,
                mail_of(kind, OpenedMail{.conversation = record.self,
                                         .group = machine.group(),
                                         .opening = machine.opening(),
                                         .owner_epoch = machine.owner_epoch(),
                                         .preferred = last_agents_.find(hash_of_visitor(record))}));
    return;
  }
  shard_.send(options_.dispatcher,
              mail_of(kind, WordMail{.conversation = record.self, .owner_epoch = machine.owner_epoch()}));
}

}  // namespace taut::gateway
