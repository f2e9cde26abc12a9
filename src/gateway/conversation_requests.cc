// What parties may ask of a conversation (the requests of gateway/conversations.h).
#include "base/assert.h"
#include "gateway/conversations.h"
#include "gateway/group_names.h"
#include "gateway/item_frames.h"
#include "gateway/wire_terms.h"

namespace taut::gateway {

namespace {

/// Reason of the event and of the goodbye.
constexpr std::string_view kBlocked = "blocked";

}  // namespace

void Conversations::handle(const ConversationRequest& request) {
  switch (request.type) {
    case wire::ClientType::send:
      return send(request);
    case wire::ClientType::accept:
      return accept(request);
    case wire::ClientType::decline:
      return decline(request);
    case wire::ClientType::take:
      return take(request);
    case wire::ClientType::transfer:
      return transfer(request);
    case wire::ClientType::close:
      return close(request);
    case wire::ClientType::block:
      return block(request);
    case wire::ClientType::history:
      return history(request);
    case wire::ClientType::typing:
    case wire::ClientType::delivered:
    case wire::ClientType::read:
      return signal(request);
    case wire::ClientType::rate:
      return rate(request);
    case wire::ClientType::hello:
      return attach(request);
    default:
      TAUT_UNREACHABLE("a request that is not for a conversation");
  }
}

ConversationRecord* Conversations::find_for(const ConversationRequest& request) {
  ConversationRecord* record = records_.find(request.key);
  if (record == nullptr) record = find(request.conversation);
  if (record != nullptr && (!request.from.is_visitor() || record->visitor_id == request.from.id))
    return record;
  const Lane lane = request.type == wire::ClientType::send ? Lane::send_answer : Lane::answer;
  refuse(request.from, request.conversation, wire::ErrorCode::no_such_conversation, "no such conversation",
         lane);
  return nullptr;
}

void Conversations::accept(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  const chat::Change change = record->machine.accept(record->party(request.from));
  if (change.code != chat::Code::ok) return refuse(request.from, request.conversation, change.code);
  if (change.contested) return ask_for(request.from, *record);
  finish_accept(request, *record, change);
}

void Conversations::finish_accept(const ConversationRequest& request, ConversationRecord& record,
                                  const chat::Change& change) {
  Block* item = change.changed ? append(record, change) : nullptr;
  courier_.answer(request.from.connection, wire::Ok{.ref = request.from.ref});
  if (item == nullptr) return;
  push_event(record, item, Handle{});
  tell_dispatcher(MailKind::conversation_accepted, record);
}

void Conversations::decline(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  const chat::Code code = record->machine.decline(record->party(request.from));
  if (code != chat::Code::ok) return refuse(request.from, request.conversation, code);
  courier_.answer(request.from.connection, wire::Ok{.ref = request.from.ref});
  tell_dispatcher(MailKind::conversation_declined, *record);
}

/// One's own is accepted here; whether anybody else's may be taken the dispatcher decides.
void Conversations::take(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr || refused_by_storage(request.from, request.conversation)) return;
  const chat::Party agent = record->party(request.from);
  const chat::Change change = record->machine.accept(agent);
  if (change.code == chat::Code::ok && !change.contested) return finish_accept(request, *record, change);
  if (!change.contested && (change.code != chat::Code::not_yours || !agent.in_group)) {
    return refuse(request.from, request.conversation, change.code);
  }
  ask_for(request.from, *record);
}

void Conversations::transfer(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr || refused_by_storage(request.from, request.conversation)) return;
  const chat::Code code = record->machine.may_act(record->party(request.from));
  if (code != chat::Code::ok) return refuse(request.from, request.conversation, code);
  if (!request.to_agent.empty()) {
    static_cast<void>(ask_dispatcher(MailKind::transfer_wanted, request.from, *record, request.to_agent, 0));
    return;
  }
  const std::optional<chat::GroupId> group = find_group(options_.groups, request.to_group);
  if (!group) {
    return refuse(request.from, request.conversation, wire::ErrorCode::bad_field,
                  "to: there is no group of this name");
  }
  static_cast<void>(ask_dispatcher(MailKind::transfer_wanted, request.from, *record, {}, *group));
}

/// Whether the agent gets it is the dispatcher's to say.
void Conversations::ask_for(const Requester& agent, ConversationRecord& record) {
  if (ask_dispatcher(MailKind::take_wanted, agent, record, agent.id, 0)) record.machine.contest();
}

bool Conversations::ask_dispatcher(MailKind kind, const Requester& from, const ConversationRecord& record,
                                   std::string_view agent, chat::GroupId group) {
  ClaimMail claim{.conversation = record.self,
                  .asker = from.connection,
                  .ref = from.ref,
                  .owner_epoch = record.machine.owner_epoch(),
                  .group = group};
  if (!agent.empty()) {
    claim.agent = shard_.pool().allocate(agent.size());
    if (claim.agent == nullptr) {
      refuse(from, record.machine.id(), wire::ErrorCode::overloaded, "no memory for the request");
      return false;
    }
    claim.agent->append(agent);
  }
  shard_.send(options_.dispatcher, mail_of(kind, claim));
  return true;
}

void Conversations::answer(const Verdict& verdict) {
  ConversationRecord* record = records_.find(verdict.conversation);
  if (record != nullptr && verdict.take && verdict.code != chat::Code::ok) record->machine.contest_lost();
  if (!verdict.asker) return;
  const bool open = record != nullptr && record->machine.state() != chat::ConversationState::closed;
  const chat::Code code = open ? verdict.code : chat::Code::closed;
  if (code == chat::Code::ok) return courier_.answer(verdict.asker, wire::Ok{.ref = verdict.ref});
  refuse({.connection = verdict.asker, .ref = verdict.ref, .id = {}, .name = {}},
         record != nullptr ? record->machine.id() : std::string_view{}, code);
}

void Conversations::close(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr || refused_by_storage(request.from, request.conversation)) return;
  answer_openers(*record);
  const chat::Change change = record->machine.close(record->party(request.from));
  if (change.code != chat::Code::ok) return refuse(request.from, request.conversation, change.code);
  finish_close(*record, change, request.from.is_visitor() ? std::string_view{} : request.from.id,
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

void Conversations::rate(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  if (record->machine.state() != chat::ConversationState::closed) {
    return refuse(request.from, request.conversation, wire::ErrorCode::forbidden,
                  "a conversation is rated once it is closed");
  }
  if (record->machine.rated())
    return courier_.answer(request.from.connection, wire::Ok{.ref = request.from.ref});
  if (refused_by_storage(request.from, request.conversation)) return;
  closed_.erase(closed_.iterator_to(*record));  // it must not be what makes room for its own event
  const bool room = !short_of_memory();
  Block* item = room ? append_rating(*record, request) : nullptr;
  closed_.push_back(*record);
  if (!room) {
    return refuse(request.from, request.conversation, wire::ErrorCode::overloaded,
                  "no memory for the rating");
  }
  metrics_.ratings.add(1);
  metrics_.rating_points.add(request.rating);
  courier_.answer(request.from.connection, wire::Ok{.ref = request.from.ref});
  push_to_visitor(*record, item, Handle{});
}

Block* Conversations::append_rating(ConversationRecord& record, const ConversationRequest& request) {
  const chat::Change change = record.machine.rate();
  const bool known = record.agent != chat::kNoAgent;
  return append_event(record, {.conversation = record.machine.id(),
                               .epoch = change.epoch,
                               .seq = change.seq,
                               .event = wire::EventKind::rated,
                               .agent = known ? agents_[record.agent].view() : std::string_view{},
                               .group = options_.groups[record.machine.group()],
                               .reason = {},
                               .rating = request.rating,
                               .text = request.text,
                               .owner_epoch = change.owner_epoch,
                               .ts = static_cast<uint64_t>(wall_ms())});
}

void Conversations::block(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  const chat::Change change = record->machine.close(record->party(request.from));
  if (change.code != chat::Code::ok) return refuse(request.from, request.conversation, change.code);
  const std::string visitor = record->visitor_id;  // what follows may forget what is closed
  finish_close(*record, change, request.from.id, kBlocked, &request.from);
  block_visitor(visitor, request.seconds != 0 ? request.seconds : BlockedVisitors::kSecondsDefault);
}

void Conversations::block_visitor(std::string_view id, uint32_t seconds) {
  if (seconds == 0) {
    blocked_.unblock(id);
  } else {
    blocked_.block(id, shard_.now_ns() + int64_t{seconds} * 1'000'000'000);
    if (hub::Endpoint* visitor = directory_.find(Role::visitor, id); visitor != nullptr) {
      close_all_of(*visitor, kBlocked, false);
      courier_.close_connections(*visitor, wire::CloseCode::blocked, kBlocked);
    }
  }
  metrics_.visitors_blocked.store(blocked_.size());
  journal_block(id, seconds);
}

void Conversations::visitor_left(const hub::Endpoint& visitor) {
  close_all_of(visitor, "offline", true);
}

void Conversations::close_all_of(const hub::Endpoint& visitor, std::string_view reason, bool queued_only) {
  const std::vector<hub::Topic> topics = visitor.topics;  // closing takes them out of the list
  for (const hub::Topic& topic : topics) {
    ConversationRecord* record = records_.find(topic.key);
    if (record == nullptr) continue;
    if (queued_only && record->machine.state() != chat::ConversationState::queued) continue;
    answer_openers(*record);
    const chat::Change change = record->machine.close({.kind = chat::PartyKind::system, .id = {}});
    if (change.changed) finish_close(*record, change, {}, reason, nullptr);
  }
}

/// A page is of one source: memory's part comes first, and what is older with the next page.
void Conversations::history(const ConversationRequest& request) {
  const bool in_memory = records_.find(request.key) != nullptr || find(request.conversation) != nullptr;
  if (!in_memory && older_.on()) return older_.ask(request, false, true);
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  const bool visitor = request.from.is_visitor();
  if (!visitor && !record->party(request.from).in_group && !record->machine.owned_by(request.from.id)) {
    return refuse(request.from, request.conversation, wire::ErrorCode::not_yours,
                  "not a conversation of your groups");
  }
  chat::Page page = record->machine.history(request.before, request.limit);
  if (page.evicted && older_.on()) {
    if (page.from > page.to) return older_.ask(request, true, is_durable(*record));
    page.more = true;
  }
  Block* frame = make_history(shard_.pool(), *record, page, request.from.ref, visitor);
  if (frame == nullptr) {
    return refuse(request.from, request.conversation, wire::ErrorCode::overloaded, "no memory for the page");
  }
  courier_.deliver({.to = request.from.connection, .frame = frame, .lane = Lane::answer});
}

/// Agents may say so of what they own; a visitor may still read what is closed.
void Conversations::signal(const ConversationRequest& request) {
  ConversationRecord* record = find_for(request);
  if (record == nullptr) return;
  const bool visitor = request.from.is_visitor();
  const bool typing = request.type == wire::ClientType::typing;
  const bool closed = record->machine.state() == chat::ConversationState::closed;
  const chat::Code code = !visitor           ? record->machine.may_act(record->party(request.from))
                          : typing && closed ? chat::Code::closed
                                             : chat::Code::ok;
  if (code != chat::Code::ok) return refuse(request.from, request.conversation, code);
  if (typing) return signals_.typing(*record, request.from, request.on);
  const auto level =
      request.type == wire::ClientType::read ? chat::ReceiptLevel::read : chat::ReceiptLevel::delivered;
  switch (record->machine.mark(visitor ? chat::Side::visitor : chat::Side::agent, level, request.seq)) {
    case chat::MarkResult::moved:
      return signals_.marked(*record, request.from, level);
    case chat::MarkResult::unchanged:
      return;
    case chat::MarkResult::beyond_end:
      return refuse(request.from, request.conversation, wire::ErrorCode::bad_field,
                    "seq: the conversation has not come that far");
  }
}

// -- a connection has come (back) --

void Conversations::attach(const ConversationRequest& request) {
  metrics_.resumes.add(request.has_cursor ? 1 : 0);
  ConversationRecord* record = find(request.conversation);
  const bool visitor = request.from.is_visitor();
  if (record == nullptr || (visitor && record->visitor_id != request.from.id)) {
    metrics_.gaps.add(1);
    Block* gap = make_frame(shard_.pool(), wire::Gap{.conversation = request.conversation,
                                                     .reason = wire::GapReason::no_such_conversation});
    return courier_.deliver({.to = request.from.connection, .frame = gap, .lane = Lane::release});
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
  pager_.start(request.from.connection, record, plan.start, request.from.is_visitor());
}

}  // namespace taut::gateway
