// Messages: repeats, order, acks (the sends of gateway/conversations.h).
#include "gateway/conversations.h"
#include "gateway/message_hash.h"
#include "gateway/wire_terms.h"

namespace taut::gateway {

void Conversations::send(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  const chat::SendDecision decision = decide_send(request, *record);
  tracer_.lap(Stage::decide);
  if (decision.code != chat::Code::ok) {
    metrics_.messages_refused.add(1);
    return refuse(request.from, request.conversation, decision.code, Lane::send_answer);
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
    courier_.answer(request.from.connection, ack, Lane::send_answer);
    return answer_durable(request, *record, ack);
  }
  if (refused_by_storage(request.from, request.conversation, Lane::send_answer)) {
    metrics_.messages_refused.add(1);
    return;
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
  const chat::IdHash id = hash_id(request.client_msg_id, options_.hash_seed);
  const chat::Party party = record.party(request.from);
  record.machine.expect_send(party, id);
  const uint64_t body = hash_message(request.text, request.kind, options_.hash_seed);
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
  journal_item(record, *message);
  release(record.machine.append_message(message, wall_ms()));
  metrics_.messages_accepted.add(1);
  courier_.answer(request.from.connection, ack, Lane::send_answer);
  answer_durable(request, record, ack);
  if (accepted != nullptr) {
    push_event(record, accepted, Handle{});
    shard_.pool().release(accepted);
    tell_dispatcher(MailKind::conversation_accepted, record);
  }
  if (decision.contested) ask_for({.id = request.from.id, .name = {}}, record);
  push_message(record, message, chat_term(request.kind), decision.seq, request.from);
}

/// Of a repeat, too, for which the conversation's last record is at least as late as the item's own.
void Conversations::answer_durable(const ConversationRequest& request, const ConversationRecord& record,
                                   wire::Ack ack) {
  if (!feed_.on()) return;
  ack.level = wire::AckLevel::durable;
  courier_.answer_when_durable(record.journaled_number, request.from.connection, ack);
}

}  // namespace taut::gateway
