#include "gateway/conversations.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/assert.h"
#include "gateway/conversation_id.h"
#include "gateway/conversation_index.h"
#include "gateway/group_names.h"
#include "gateway/wire_terms.h"

namespace taut::gateway {

namespace {

/// Closed conversations that one message may push out of a full pool.
constexpr uint32_t kForgottenAtOnce = 8;

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
    case chat::Code::capacity:
      return "the agent has no room";
    case chat::Code::unavailable:
      return "the agent is not there";
    case chat::Code::forbidden:
    case chat::Code::ok:
      break;
  }
  return "not allowed";
}

}  // namespace

Conversations::Conversations(Shard& shard, hub::BlockReturn& back, DurableCourier& courier, JournalFeed& feed,
                             hub::Directory& directory, Tracer& tracer, GatewayMetrics& metrics,
                             const Options& options)
    : shard_(shard),
      back_(back),
      courier_(courier),
      feed_(feed),
      directory_(directory),
      tracer_(tracer),
      metrics_(metrics),
      options_(options),
      memory_(shard.pool()),
      records_(shard.id()),
      index_(std::make_unique<ConversationIndex>(options_.conversations_max)),
      last_agents_(options.conversations_max, memory_),
      signals_(shard, courier, *this),
      listings_(shard, courier, *this, options.dispatcher),
      older_(shard, courier, options.archive),
      pager_(shard, courier, *this) {}

Conversations::~Conversations() {
  records_.for_each([&](Handle, ConversationRecord& record) { forget(record); });
}

ConversationRecord* Conversations::find(std::string_view id) {
  return index_->find(id);
}

void Conversations::forget(ConversationRecord& record) {
  record.machine.release_items([&](void* body) { shard_.pool().release(static_cast<Block*>(body)); });
  if (record.closed_hook.is_linked()) closed_.erase(closed_.iterator_to(record));
  index_->erase(record);
  records_.erase(record.self);
  metrics_.conversations.store(records_.size());
}

bool Conversations::make_room() {
  while (records_.size() >= options_.conversations_max && forget_oldest_closed()) {
  }
  return records_.size() < options_.conversations_max;
}

/// What is not durable yet is nowhere else.
bool Conversations::forget_oldest_closed() {
  if (closed_.empty() || !is_durable(closed_.front())) return false;
  forget(closed_.front());
  return true;
}

bool Conversations::short_of_memory() {
  for (uint32_t i = 0; i < kForgottenAtOnce && pool_is_full(); ++i) {
    if (!forget_oldest_closed()) return true;
  }
  return pool_is_full();
}

bool Conversations::pool_is_full() const {
  // An eighth, and a slab for each size of block, are for events, answers and goodbyes, so that a full pool
  // still ends well.
  constexpr size_t kSlabs = BufferPool::kClasses * BufferPool::kSlabBytes;
  const BufferPool::Metrics& pool = shard_.pool().metrics();
  if (pool.slab_bytes.load() + BufferPool::kSlabBytes <= options_.pool_bytes_max) return false;
  return pool.bytes_in_use() + kSlabs >= options_.pool_bytes_max - options_.pool_bytes_max / 8;
}

int64_t Conversations::wall_ms() {
  if (wall_read_at_ns_ != shard_.now_ns()) {
    wall_read_at_ns_ = shard_.now_ns();
    wall_ms_ = shard_.clock().wall_ms();
  }
  return wall_ms_;
}

void Conversations::refuse(const Requester& from, std::string_view conversation, wire::ErrorCode code,
                           std::string_view message, Lane lane) {
  refuse(from,
         {.conversation = conversation, .code = code, .message = message, .retryable = wire::retryable(code)},
         lane);
}

void Conversations::refuse(const Requester& from, std::string_view conversation, chat::Code code, Lane lane) {
  refuse(from,
         {.conversation = conversation,
          .code = wire_term(code),
          .message = words_of(code),
          .retryable = code == chat::Code::capacity},
         lane);
}

void Conversations::refuse(const Requester& from, wire::ErrorMessage error, Lane lane) {
  error.has_ref = from.has_ref;
  error.ref = from.ref;
  courier_.answer(from.connection, error, lane);
}

wire::ListEntry Conversations::list_entry(const ConversationRecord& record) const {
  const chat::Conversation& machine = record.machine;
  return {.conversation = machine.id(),
          .group = options_.groups[machine.group()],
          .state = wire_term(machine.state()),
          .visitor_id = record.visitor_id,
          .visitor_name = record.visitor_name,
          .agent = machine.owner().id.view(),
          .owner_epoch = machine.owner_epoch(),
          .epoch = machine.epoch(),
          .seq = machine.last_seq()};
}

// -- open --

void Conversations::open(const OpenRequest& request) {
  hub::Endpoint* visitor = directory_.find(request.from.endpoint);
  TAUT_ASSERT(visitor != nullptr);
  if (!visitor->may_open)
    return refuse(request.from, {}, wire::ErrorCode::forbidden, "the token forbids open");
  if (!request.conversation.empty()) return reopen(request, *visitor);
  chat::GroupId group = 0;
  if (!request.group.empty()) {
    const std::optional<chat::GroupId> named = find_group(options_.groups, request.group);
    if (!named) {
      return refuse(request.from, {}, wire::ErrorCode::bad_field, "group: there is none of this name");
    }
    group = *named;
  }
  if (ConversationRecord* already = open_one(*visitor, group); already != nullptr) {
    return answer_or_wait(request, *already);
  }
  if (refused_by_storage(request.from, {})) return;
  if (short_of_memory() || !make_room()) {
    return refuse(request.from, {}, wire::ErrorCode::overloaded, "no room for another conversation");
  }
  ConversationRecord* record = create(request, group);
  visitor->add_topic(record->self, 0, record->machine.id());
  metrics_.conversations_opened.add(1);
  Block* item = append(*record, record->machine.open());
  record->openers.push_back({.connection = request.from.connection, .ref = request.from.ref});
  push_event(*record, item, request.from.connection);
  tell_dispatcher(MailKind::conversation_opened, *record);
}

void Conversations::answer_or_wait(const OpenRequest& request, ConversationRecord& record) {
  const Opener opener{.connection = request.from.connection, .ref = request.from.ref};
  if (record.openers.empty()) return answer_opened(opener, record);
  record.openers.push_back(opener);
}

void Conversations::answer_openers(ConversationRecord& record) {
  for (const Opener& opener : std::exchange(record.openers, {})) answer_opened(opener, record);
}

ConversationRecord* Conversations::open_one(const hub::Endpoint& visitor, chat::GroupId group) {
  for (const hub::Topic& topic : visitor.topics) {
    ConversationRecord* record = records_.find(topic.key);
    if (record != nullptr && record->machine.group() == group) return record;
  }
  return nullptr;
}

ConversationRecord* Conversations::create(const OpenRequest& request, chat::GroupId group) {
  const std::string id = make_conversation_id(request.partition, options_.process_start_ms, ++counter_);
  ConversationRecord& record =
      records_.emplace(id, group, chat::Conversation::Options{.items_max = options_.history_items}, memory_);
  record.visitor = request.from.endpoint;
  record.visitor_id = request.from.id;
  record.visitor_name = request.from.name;
  record.attributes = request.attributes;
  record.subject = request.subject;
  index_by_id(record);
  journal_creation(record);
  return &record;
}

void Conversations::index_by_id(ConversationRecord& record) {
  index_->insert(record);
  metrics_.conversations.store(records_.size());
}

void Conversations::reopen(const OpenRequest& request, hub::Endpoint& visitor) {
  ConversationRecord* record = find(request.conversation);
  if (record == nullptr || record->visitor_id != request.from.id) {
    return refuse(request.from, request.conversation, wire::ErrorCode::no_such_conversation,
                  "no such conversation");
  }
  if (record->machine.state() != chat::ConversationState::closed) return answer_or_wait(request, *record);
  if (ConversationRecord* other = open_one(visitor, record->machine.group()); other != nullptr) {
    return answer_or_wait(request, *other);
  }
  if (refused_by_storage(request.from, request.conversation)) return;
  closed_.erase(closed_.iterator_to(*record));  // it must not be what makes room for itself
  if (short_of_memory()) {
    closed_.push_back(*record);
    return refuse(request.from, request.conversation, wire::ErrorCode::overloaded,
                  "no memory for another conversation");
  }
  const chat::Change change = record->machine.reopen();
  Block* item = append(*record, change);
  record->visitor = request.from.endpoint;
  record->position = {};
  record->agent = chat::kNoAgent;
  visitor.add_topic(record->self, 0, record->machine.id());
  answer_opened({.connection = request.from.connection, .ref = request.from.ref}, *record);
  push_event(*record, item, Handle{});
  tell_dispatcher(MailKind::conversation_opened, *record);
}

void Conversations::answer_opened(const Opener& opener, const ConversationRecord& record) {
  const chat::Conversation& machine = record.machine;
  const bool queued = machine.state() == chat::ConversationState::queued;
  const OpenState group = queued ? options_.rules.state(machine.group(), wall_ms()) : OpenState{};
  courier_.answer(opener.connection,
                  wire::Opened{.ref = opener.ref,
                               .conversation = machine.id(),
                               .epoch = machine.epoch(),
                               .seq = machine.last_seq(),
                               .state = wire_term(machine.state()),
                               .position = queued ? record.position.position : 0,
                               .has_eta = queued && record.position.has_eta,
                               .eta_ms = record.position.eta_ms,
                               .closed = !group.open,
                               .opens_at = group.open ? 0 : static_cast<uint64_t>(group.changes_at_ms)});
}

}  // namespace taut::gateway
