// What parties may ask of a conversation (the requests of gateway/conversations.h).
#include "base/assert.h"
#include "gateway/conversations.h"
#include "gateway/item_frames.h"
#include "gateway/message_hash.h"
#include "gateway/wire_terms.h"

namespace taut::gateway {

namespace {

wire::ErrorCode error_of(chat::Code code) {
  switch (code) {
    case chat::Code::closed:
      return wire::ErrorCode::closed;
    case chat::Code::not_yours:
      return wire::ErrorCode::not_yours;
    case chat::Code::taken:
      return wire::ErrorCode::taken;
    case chat::Code::id_conflict:
      return wire::ErrorCode::id_conflict;
    case chat::Code::forbidden:
    case chat::Code::ok:
      break;
  }
  return wire::ErrorCode::forbidden;
}

std::string_view words_of(chat::Code code) {
  switch (code) {
    case chat::Code::closed:
      return "the conversation is closed";
    case chat::Code::not_yours:
      return "the conversation belongs to somebody else";
    case chat::Code::taken:
      return "the conversation has been accepted";
    case chat::Code::id_conflict:
      return "client_msg_id was used for another message";
    case chat::Code::forbidden:
    case chat::Code::ok:
      break;
  }
  return "not allowed";
}

bool in_group(const Requester& from, const ConversationRecord& record) {
  return (from.groups & chat::group_bit(record.machine.group())) != 0;
}

chat::Party party_of(const Requester& from, const ConversationRecord& record) {
  return {
      .kind = from.kind, .id = from.id, .in_group = in_group(from, record), .owner_epoch = from.owner_epoch};
}

bool is_visitor(const Requester& from) {
  return from.kind == chat::PartyKind::visitor;
}

}  // namespace

void Conversations::handle(const ConversationRequest& request) {
  switch (request.type) {
    case wire::ClientType::send:
      return send(request);
    case wire::ClientType::accept:
      return accept(request);
    case wire::ClientType::decline:
      return decline(request);
    case wire::ClientType::close:
      return close(request);
    case wire::ClientType::history:
      return history(request);
    case wire::ClientType::hello:
      return attach(request);
    default:
      TAUT_UNREACHABLE("a request that is not for a conversation");
  }
}

ConversationRecord* Conversations::find_for(const ConversationRequest& request) {
  ConversationRecord* record = records_.find(request.key);
  if (record == nullptr) record = find(request.conversation);
  if (record != nullptr && (!is_visitor(request.from) || record->visitor_id == request.from.id))
    return record;
  const Lane lane = request.type == wire::ClientType::send ? Lane::send_answer : Lane::answer;
  refuse(request.from, request.conversation, wire::ErrorCode::no_such_conversation, "no such conversation",
         lane);
  return nullptr;
}

void Conversations::send(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  const chat::SendDecision decision = decide_send(request, *record);
  if (decision.code != chat::Code::ok) {
    metrics_.messages_refused.add(1);
    return refuse(request.from, request.conversation, error_of(decision.code), words_of(decision.code),
                  Lane::send_answer);
  }
  const wire::Ack ack{.ref = request.from.ref,
                      .conversation = request.conversation,
                      .client_msg_id = request.client_msg_id,
                      .epoch = decision.epoch,
                      .seq = decision.seq,
                      .ts = static_cast<uint64_t>(decision.dup ? decision.ts_ms : wall_ms()),
                      .level = wire::AckLevel::accepted,
                      .dup = decision.dup};
  if (decision.dup) {
    metrics_.messages_duplicate.add(1);
    return courier_.answer(request.from.connection, ack, Lane::send_answer);
  }
  Block* message = short_of_memory() ? nullptr : make_message(request, ack);
  if (message == nullptr) {
    metrics_.messages_refused.add(1);
    return refuse(request.from, request.conversation, wire::ErrorCode::overloaded,
                  "no memory for the message", Lane::send_answer);
  }
  accept_send(request, *record, decision, ack, message);
}

chat::SendDecision Conversations::decide_send(const ConversationRequest& request,
                                              ConversationRecord& record) {
  const chat::IdHash id = hash_id(request.client_msg_id, hash_seed_);
  const chat::Party party = party_of(request.from, record);
  record.machine.expect_send(party, id);
  const uint64_t body = hash_body(request.text, hash_seed_ + static_cast<uint64_t>(request.kind));
  return record.machine.on_send(party, id, body, chat_term(request.kind));
}

Block* Conversations::make_message(const ConversationRequest& request, const wire::Ack& ack) {
  const Requester& from = request.from;
  return make_frame(shard_.pool(),
                    wire::Message{.conversation = request.conversation,
                                  .epoch = ack.epoch,
                                  .seq = ack.seq,
                                  .from = {.kind = wire_term(from.kind), .id = from.id, .name = from.name},
                                  .client_msg_id = request.client_msg_id,
                                  .kind = request.kind,
                                  .text = request.text,
                                  .ts = ack.ts,
                                  .text_clean = request.text_clean});
}

void Conversations::accept_send(const ConversationRequest& request, ConversationRecord& record,
                                const chat::SendDecision& decision, const wire::Ack& ack, Block* message) {
  Block* accepted = nullptr;
  if (decision.accepts) {
    accepted = append_event(record, {.conversation = record.machine.id(),
                                     .epoch = decision.epoch,
                                     .seq = decision.seq - 1,
                                     .event = wire::EventKind::accepted,
                                     .agent = request.from.id,
                                     .group = {},
                                     .reason = {},
                                     .owner_epoch = record.machine.owner_epoch(),
                                     .ts = ack.ts});
    shard_.pool().add_ref(accepted);  // where one item is kept, the message evicts it
  }
  release(record.machine.append_message(message, wall_ms()));
  metrics_.messages_accepted.add(1);
  courier_.answer(request.from.connection, ack, Lane::send_answer);
  if (accepted != nullptr) {
    push_event(record, accepted, Handle{});
    shard_.pool().release(accepted);
    tell_dispatcher(MailKind::conversation_accepted, record);
  }
  push_message(record, message, chat_term(request.kind), decision.seq, request.from);
}

void Conversations::accept(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  const chat::Change change = record->machine.accept(party_of(request.from, *record));
  if (change.code != chat::Code::ok) {
    return refuse(request.from, request.conversation, error_of(change.code), words_of(change.code));
  }
  Block* item = change.changed ? append(*record, change) : nullptr;
  courier_.answer(request.from.connection, wire::Ok{.ref = request.from.ref});
  if (item == nullptr) return;
  push_event(*record, item, Handle{});
  tell_dispatcher(MailKind::conversation_accepted, *record);
}

void Conversations::decline(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  const chat::Code code = record->machine.decline(party_of(request.from, *record));
  if (code != chat::Code::ok)
    return refuse(request.from, request.conversation, error_of(code), words_of(code));
  courier_.answer(request.from.connection, wire::Ok{.ref = request.from.ref});
  tell_dispatcher(MailKind::conversation_declined, *record);
}

void Conversations::close(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  answer_openers(*record);
  const chat::Change change = record->machine.close(party_of(request.from, *record));
  if (change.code != chat::Code::ok) {
    return refuse(request.from, request.conversation, error_of(change.code), words_of(change.code));
  }
  finish_close(*record, change, is_visitor(request.from) ? std::string_view{} : request.from.id,
               request.reason, &request.from);
}

void Conversations::finish_close(ConversationRecord& record, const chat::Change& change,
                                 std::string_view agent, std::string_view reason, const Requester* asked_by) {
  Block* item = append_event(record, {.conversation = record.machine.id(),
                                      .epoch = change.epoch,
                                      .seq = change.seq,
                                      .event = wire::EventKind::closed,
                                      .agent = agent,
                                      .group = {},
                                      .reason = reason,
                                      .owner_epoch = change.owner_epoch,
                                      .ts = static_cast<uint64_t>(wall_ms())});
  if (asked_by != nullptr) courier_.answer(asked_by->connection, wire::Ok{.ref = asked_by->ref});
  push_to_visitor(record, item, Handle{});
  if (change.lost.key) {
    give(change.lost.key, Handle{}, record, item, Lane::live);
    tell_unassigned(record, change.lost, chat::Reason::closed);
  }
  if (hub::Endpoint* visitor = directory_.find(record.visitor); visitor != nullptr) {
    visitor->remove_topic(record.self);
  }
  metrics_.conversations_closed.add(1);
  closed_.push_back(record);
  tell_dispatcher(MailKind::conversation_closed, record);
}

void Conversations::visitor_left(const hub::Endpoint& visitor) {
  const std::vector<hub::Topic> topics = visitor.topics;  // closing takes them out of the list
  for (const hub::Topic& topic : topics) {
    ConversationRecord* record = records_.find(topic.key);
    if (record == nullptr || record->machine.state() != chat::ConversationState::queued) continue;
    const chat::Change change = record->machine.close({.kind = chat::PartyKind::system, .id = {}});
    if (change.changed) finish_close(*record, change, {}, "offline", nullptr);
  }
}

void Conversations::history(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  const bool visitor = is_visitor(request.from);
  if (!visitor && !in_group(request.from, *record) && !record->machine.owned_by(request.from.id)) {
    return refuse(request.from, request.conversation, wire::ErrorCode::not_yours,
                  "not a conversation of your groups");
  }
  const chat::Page page = record->machine.history(request.before, request.limit);
  Block* frame = make_history(shard_.pool(), *record, page, request.from.ref, visitor);
  if (frame == nullptr) {
    return refuse(request.from, request.conversation, wire::ErrorCode::overloaded, "no memory for the page");
  }
  courier_.deliver({.to = request.from.connection, .frame = frame, .lane = Lane::answer});
}

// -- a connection has come (back) --

void Conversations::attach(const ConversationRequest& request) {
  metrics_.resumes.add(request.has_cursor ? 1 : 0);
  ConversationRecord* record = find(request.conversation);
  const bool visitor = is_visitor(request.from);
  if (record == nullptr || (visitor && record->visitor_id != request.from.id)) {
    metrics_.gaps.add(1);
    Block* gap = make_frame(shard_.pool(), wire::Gap{.conversation = request.conversation,
                                                     .reason = wire::GapReason::no_such_conversation});
    return courier_.deliver({.to = request.from.connection, .frame = gap, .lane = Lane::answer});
  }
  if (!visitor) return attach_agent(request, *record);
  record->visitor = request.from.endpoint;
  resume(request, *record);
}

void Conversations::attach_agent(const ConversationRequest& request, ConversationRecord& record) {
  if (!record.machine.owned_by(request.from.id)) {
    const bool closed = record.machine.state() == chat::ConversationState::closed;
    Block* frame =
        make_frame(shard_.pool(), wire::Unassigned{.conversation = record.machine.id(),
                                                   .owner_epoch = record.machine.owner_epoch(),
                                                   .reason = closed ? wire::UnassignReason::closed
                                                                    : wire::UnassignReason::transferred});
    return courier_.deliver(
        {.to = request.from.connection, .conversation = record.self, .frame = frame, .lane = Lane::release});
  }
  tell_assigned(record, Handle{}, request.from.connection, request.has_cursor ? Lane::page : Lane::release);
  if (request.has_cursor) resume(request, record);
}

void Conversations::resume(const ConversationRequest& request, ConversationRecord& record) {
  // An epoch that does not fit is one that never was.
  const uint32_t epoch = request.epoch > UINT32_MAX ? UINT32_MAX : static_cast<uint32_t>(request.epoch);
  const chat::ResumePlan plan = record.machine.plan_resume(epoch, request.seq);
  for (uint32_t i = 0; i < plan.gap_count; ++i) {
    metrics_.gaps.add(1);
    Block* frame = make_frame(shard_.pool(), wire::Gap{.conversation = record.machine.id(),
                                                       .epoch = request.epoch,
                                                       .from = plan.gaps[i].from,
                                                       .to = plan.gaps[i].to,
                                                       .reason = wire_term(plan.gaps[i].reason)});
    courier_.deliver(
        {.to = request.from.connection, .conversation = record.self, .frame = frame, .lane = Lane::page});
  }
  pager_.start(request.from.connection, record, plan.start, is_visitor(request.from));
}

}  // namespace taut::gateway
