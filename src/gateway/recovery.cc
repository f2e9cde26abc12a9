#include "gateway/recovery.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/identity.h"
#include "chat/dispatcher.h"
#include "gateway/conversation_id.h"
#include "gateway/frame.h"
#include "gateway/group_names.h"
#include "gateway/message_hash.h"
#include "gateway/wire_terms.h"

namespace taut::gateway {

namespace {

/// Blocks are looked through for those that have passed when there are twice as many as the last time.
constexpr size_t kBlocksUnlooked = 1024;

std::unexpected<Error> in_record(const journal::Record& record, const Error& error) {
  return fail("record " + std::to_string(record.sequence) + ": " + error.message);
}

/// What a frame can be made of later.
Status is_item(std::string_view json, wire::ServerType type, std::string_view conversation) {
  if (json.size() + kAroundFrameBytes > BufferPool::kCapacityMax) return fail("the item is too long");
  if (wire::rest_offset_of(json, type, conversation) == 0) {
    return fail("the item does not begin with its type and its conversation");
  }
  return {};
}

/// By number of the record.
std::vector<std::unique_ptr<RecoveredConversation>>& in_order(
    std::vector<std::unique_ptr<RecoveredConversation>>& conversations,
    uint64_t RecoveredConversation::* order) {
  std::ranges::sort(conversations, {}, [order](const auto& conversation) { return (*conversation).*order; });
  return conversations;
}

}  // namespace

Recovery::Recovery(Options options) : options_(std::move(options)), hash_seed_(options_.hash_seed) {
  TAUT_ASSERT(!options_.groups.empty());
}

Recovery::~Recovery() = default;

Status Recovery::apply(const journal::Record& record) {
  const Status status = dispatch(record);
  if (!status) return in_record(record, status.error());
  begun_ = true;
  ++counts_.records;
  latest_ms_ = std::max(latest_ms_, record.time_ms);
  stopped_ = record.type == journal::RecordType::stopped;
  return {};
}

Status Recovery::dispatch(const journal::Record& record) {
  if (record.type == journal::RecordType::started) return apply_started(record);
  if (stopped_ && begun_) return fail("it comes behind `stopped` without `started`");
  switch (record.type) {
    case journal::RecordType::started:
    case journal::RecordType::stopped:
      return {};
    case journal::RecordType::conversation:
      return apply_conversation(record);
    case journal::RecordType::item:
      return apply_item(record);
    case journal::RecordType::receipts:
      return apply_receipts(record);
    case journal::RecordType::presence:
      return apply_presence(record);
    case journal::RecordType::block:
      return apply_block(record);
    case journal::RecordType::forgotten:
      return apply_forgotten(record);
    case journal::RecordType::state:
    case journal::RecordType::snapshot:
    case journal::RecordType::remembered:
      return fail("it belongs into a snapshot");
  }
  return fail("its type is " + std::to_string(static_cast<uint32_t>(record.type)) +
              ", which this version does not know");
}

// -- starts --

Status Recovery::apply_started(const journal::Record& record) {
  wire::Started started;
  if (const Status read = reader_.read(record.payload, started); !read) return read;
  if (started.clean != stopped_) {
    return fail(started.clean ? "it says clean, but the record before is not `stopped`"
                              : "it says not clean, but the record before is `stopped`, or there is none");
  }
  forget_unopened();
  if (started.clean) return {};
  for (auto& [id, conversation] : conversations_) conversation->start_epoch();
  return {};
}

/// Created, and then the crash: nobody was told of it for good.
void Recovery::forget_unopened() {
  std::vector<RecoveredConversation*> unopened;
  for (const auto& [id, conversation] : conversations_) {
    if (conversation->machine().last_seq() == 0) unopened.push_back(conversation.get());
  }
  for (RecoveredConversation* conversation : unopened) let_go(*conversation);
}

// -- conversations --

Status Recovery::apply_conversation(const journal::Record& record) {
  wire::ConversationFacts facts;
  if (const Status read = reader_.read(record.payload, facts); !read) return read;
  Origin& origin = origins_[record.shard];
  while (origin.conversations >= options_.conversations_max && !origin.closed.empty()) {
    forget_oldest_closed(origin);
  }
  const Result<RecoveredConversation*> added = add(facts, record.shard);
  return added ? Status() : std::unexpected(added.error());
}

Result<RecoveredConversation*> Recovery::add(const wire::ConversationFacts& facts, uint16_t shard) {
  if (conversations_.contains(facts.conversation)) return fail("the conversation is there already");
  if (partition_of_conversation(facts.conversation) != partition_of(Role::visitor, facts.visitor)) {
    return fail("the conversation's name is not one for that visitor");
  }
  const std::optional<chat::GroupId> group = find_group(options_.groups, facts.group);
  auto conversation =
      std::make_unique<RecoveredConversation>(facts.conversation, group.value_or(0), options_.history_items);
  conversation->group_name = facts.group;
  conversation->visitor_id = facts.visitor;
  conversation->visitor_name = facts.name;
  conversation->subject = facts.subject;
  conversation->attributes = facts.attributes;
  conversation->origin = shard;
  conversation->regrouped = !group;
  RecoveredConversation* const added = conversation.get();
  conversations_.emplace(facts.conversation, std::move(conversation));
  by_visitor_.emplace(added->visitor_id, added);
  ++origins_[shard].conversations;
  return added;
}

Result<RecoveredConversation*> Recovery::find(std::string_view id) {
  const auto it = conversations_.find(id);
  if (it != conversations_.end()) return it->second.get();
  if (counts_.forgotten == 0) return fail("there is no conversation " + std::string(id));
  ++counts_.skipped;
  return nullptr;
}

void Recovery::forget_oldest_closed(Origin& origin) {
  let_go(*origin.closed.begin()->second);
  ++counts_.forgotten;
}

void Recovery::let_go(RecoveredConversation& conversation) {
  Origin& origin = origins_[conversation.origin];
  if (conversation.closed()) origin.closed.erase(conversation.closed_at);
  --origin.conversations;
  const auto [first, last] = by_visitor_.equal_range(conversation.visitor_id);
  by_visitor_.erase(
      std::find_if(first, last, [&](const auto& entry) { return entry.second == &conversation; }));
  conversations_.erase(conversations_.find(conversation.machine().id()));
}

// -- items --

Result<Recovery::ItemRecord> Recovery::read_item(const journal::Record& record) {
  if (const Status read = reader_.read(record.payload, item_); !read) return std::unexpected(read.error());
  ItemRecord item{.message = std::get_if<wire::Message>(&item_), .event = std::get_if<wire::Event>(&item_)};
  item.conversation = item.message != nullptr ? item.message->conversation : item.event->conversation;
  const auto type = item.message != nullptr ? wire::ServerType::message : wire::ServerType::event;
  if (const Status is = is_item(record.payload, type, item.conversation); !is)
    return std::unexpected(is.error());
  if ((item.message != nullptr ? item.message->epoch : item.event->epoch) > UINT32_MAX)
    return fail("its epoch is out of range");
  return item;
}

chat::RestoredMessage Recovery::restored(const wire::Message& message) const {
  return {.epoch = static_cast<uint32_t>(message.epoch),
          .seq = message.seq,
          .ts_ms = static_cast<int64_t>(message.ts),
          .sender = chat_term(message.from.kind),
          .sender_id = message.from.id,
          .id = hash_id(message.client_msg_id, hash_seed_),
          .body_hash = hash_message(message.text, message.kind, hash_seed_),
          .kind = chat_term(message.kind)};
}

/// `group`: to which the event gives it.
chat::RestoredEvent Recovery::restored(const wire::Event& event, chat::GroupId group) {
  return {.epoch = static_cast<uint32_t>(event.epoch),
          .seq = event.seq,
          .ts_ms = static_cast<int64_t>(event.ts),
          .event = chat_term(event.event),
          .agent = event.agent,
          .group = group,
          .owner_epoch = static_cast<uint32_t>(event.owner_epoch)};
}

Status Recovery::apply_item(const journal::Record& record) {
  const Result<ItemRecord> item = read_item(record);
  if (!item) return std::unexpected(item.error());
  const Result<RecoveredConversation*> conversation = find(item->conversation);
  if (!conversation) return std::unexpected(conversation.error());
  if (*conversation == nullptr) return {};
  ++counts_.items;
  if (item->message != nullptr) return (*conversation)->restore(restored(*item->message), record.payload);
  return apply_event(record, *item->event, **conversation);
}

Status Recovery::apply_event(const journal::Record& record, const wire::Event& event,
                             RecoveredConversation& conversation) {
  const bool to_queue = event.event == wire::EventKind::requeued ||
                        (event.event == wire::EventKind::transferred && event.agent.empty());
  if (to_queue && event.group.empty()) return fail(std::string(name_of(event.event)) + ": no group gets it");
  const std::optional<chat::GroupId> group = find_group(options_.groups, event.group);
  const Status status =
      conversation.restore(restored(event, to_queue ? group.value_or(0) : chat::kNoGroup), record.payload);
  if (!status) return status;
  if (to_queue) {
    conversation.group_name = event.group;
    conversation.regrouped = !group;
  }
  note(conversation, record.sequence, event);
  return {};
}

/// What the machine does not know: by which record it was opened or closed, and who had it.
void Recovery::note(RecoveredConversation& conversation, uint64_t sequence, const wire::Event& event) {
  ClosedOnes& closed = origins_[conversation.origin].closed;
  switch (event.event) {
    case wire::EventKind::opened:
    case wire::EventKind::reopened:
      closed.erase(conversation.closed_at);
      conversation.opened_at = sequence;
      conversation.agent.clear();
      break;
    case wire::EventKind::closed:
    case wire::EventKind::rated:
      closed.erase(conversation.closed_at);
      conversation.closed_at = sequence;
      closed.emplace(sequence, &conversation);
      break;
    case wire::EventKind::assigned:
    case wire::EventKind::transferred:
    case wire::EventKind::requeued:
      conversation.agent = event.agent;
      break;
    case wire::EventKind::accepted:
    case wire::EventKind::note_hidden:
      break;
  }
}

// -- the rest --

Status Recovery::apply_receipts(const journal::Record& record) {
  wire::Marks marks;
  if (const Status read = reader_.read(record.payload, marks); !read) return read;
  const Result<RecoveredConversation*> conversation = find(marks.conversation);
  if (!conversation) return std::unexpected(conversation.error());
  if (*conversation == nullptr) return {};
  using chat::ReceiptLevel;
  using chat::Side;
  Status status;
  for (const auto& [side, level, seq] :
       {std::tuple(Side::visitor, ReceiptLevel::delivered, marks.visitor_delivered),
        std::tuple(Side::visitor, ReceiptLevel::read, marks.visitor_read),
        std::tuple(Side::agent, ReceiptLevel::delivered, marks.agent_delivered),
        std::tuple(Side::agent, ReceiptLevel::read, marks.agent_read)}) {
    if (status) status = (*conversation)->restore_mark(side, level, seq);
  }
  (*conversation)->marked_by = marks.marked_by;
  return status;
}

/// An agent of whom nothing is known is offline: what says no more than that needs no place.
Status Recovery::apply_presence(const journal::Record& record) {
  wire::PresenceSet word;
  if (const Status read = reader_.read(record.payload, word); !read) return read;
  static_assert(wire::PresenceSet::kTokenCapacity == chat::Dispatcher::kTokenCapacity);
  const std::string agent(word.agent);
  if (word.status == wire::PresenceStatus::offline && word.capacity == chat::Dispatcher::kTokenCapacity) {
    words_.erase(agent);
  } else {
    words_.insert_or_assign(
        agent, RecoveredWord{.agent = agent, .status = chat_term(word.status), .capacity = word.capacity});
  }
  return {};
}

Status Recovery::apply_block(const journal::Record& record) {
  wire::VisitorBlocked block;
  if (const Status read = reader_.read(record.payload, block); !read) return read;
  const auto until_ms = static_cast<int64_t>(block.until_ms);
  if (until_ms == 0) {
    blocked_.erase(std::string(block.visitor));
    return {};
  }
  blocked_.insert_or_assign(std::string(block.visitor), until_ms);
  if (blocked_.size() < 2 * blocked_looked_at_ + kBlocksUnlooked) return {};
  std::erase_if(blocked_, [&record](const auto& entry) { return entry.second <= record.time_ms; });
  blocked_looked_at_ = blocked_.size();
  return {};
}

/// What a crash has kept of the visitor's conversations that were not durable comes before, so all of them
/// go.
Status Recovery::apply_forgotten(const journal::Record& record) {
  wire::VisitorForgotten forgotten;
  if (const Status read = reader_.read(record.payload, forgotten); !read) return read;
  last_forgotten_ = record.sequence;
  for (auto it = by_visitor_.find(forgotten.visitor); it != by_visitor_.end();
       it = by_visitor_.find(forgotten.visitor)) {
    let_go(*it->second);
    ++counts_.forgotten;
  }
  return {};
}

// -- what came of them --

Result<Recovered> Recovery::take(uint32_t shards, uint32_t conversations_max) {
  TAUT_ASSERT(shards > 0 && conversations_max > 0);
  forget_unopened();
  Recovered recovered{.shards = std::vector<RecoveredShard>(shards),
                      .words = {},
                      .latest_ms = latest_ms_,
                      .hash_seed = hash_seed_};
  const uint64_t open = static_cast<uint64_t>(
      std::ranges::count_if(conversations_, [](const auto& entry) { return !entry.second->closed(); }));
  if (open > uint64_t{shards} * conversations_max) {
    return fail(std::to_string(open) +
                " conversations are open in the journal, and conversations-max allows " +
                std::to_string(uint64_t{shards} * conversations_max) + ": raise it");
  }
  share_out(recovered.shards);
  for (RecoveredShard& shard : recovered.shards) {
    const size_t room = conversations_max - std::min<size_t>(conversations_max, shard.open.size());
    const size_t excess = shard.closed.size() - std::min(room, shard.closed.size());
    shard.closed.erase(shard.closed.begin(), shard.closed.begin() + static_cast<ptrdiff_t>(excess));
    counts_.forgotten += excess;
    for (const auto* kept : {&shard.open, &shard.closed}) {
      for (const auto& conversation : *kept) counts_.regrouped += conversation->regrouped ? 1 : 0;
    }
  }
  for (auto& [agent, word] : words_) recovered.words.push_back(std::move(word));
  for (const auto& [visitor, until_ms] : blocked_) {
    const uint32_t home = shard_of(partition_of(Role::visitor, visitor), shards);
    recovered.shards[home].blocked.push_back({.visitor = visitor, .until_ms = until_ms});
  }
  return recovered;
}

/// Each to its visitor's home, in order, and the open ones numbered.
void Recovery::share_out(std::vector<RecoveredShard>& shards) {
  std::vector<std::unique_ptr<RecoveredConversation>> open;
  std::vector<std::unique_ptr<RecoveredConversation>> closed;
  for (auto& [id, conversation] : conversations_) {
    (conversation->closed() ? closed : open).push_back(std::move(conversation));
  }
  by_visitor_.clear();
  conversations_.clear();
  origins_.clear();
  const auto home_of = [&shards](const RecoveredConversation& conversation) -> RecoveredShard& {
    return shards[shard_of(partition_of(Role::visitor, conversation.visitor_id),
                           static_cast<uint32_t>(shards.size()))];
  };
  uint32_t number = 0;
  for (auto& conversation : in_order(open, &RecoveredConversation::opened_at)) {
    conversation->number = ++number;
    home_of(*conversation).open.push_back(std::move(conversation));
  }
  for (auto& conversation : in_order(closed, &RecoveredConversation::closed_at)) {
    home_of(*conversation).closed.push_back(std::move(conversation));
  }
}

}  // namespace taut::gateway
