// Conversations as they were before the start (of gateway/conversations.h).
#include <memory>
#include <utility>

#include "base/assert.h"
#include "gateway/conversations.h"
#include "gateway/recovery.h"

namespace taut::gateway {

void Conversations::restore(RecoveredShard&& recovered) {
  for (std::unique_ptr<RecoveredConversation>& from : recovered.open) {
    ConversationRecord& record = restore(*from);
    await_visitor(record);
    tell_dispatcher_restored(record, from->number);
    if (record.machine.owner()) look_for_owner(record);
    from.reset();  // memory is needed once
  }
  for (std::unique_ptr<RecoveredConversation>& from : recovered.closed) {
    closed_.push_back(restore(*from));
    from.reset();
  }
  for (const RecoveredBlock& block : recovered.blocked) {
    if (block.until_ms <= wall_ms()) continue;
    blocked_.block(block.visitor, shard_.now_ns() + (block.until_ms - wall_ms()) * 1'000'000);
  }
  metrics_.visitors_blocked.store(blocked_.size());
}

ConversationRecord& Conversations::restore(const RecoveredConversation& from) {
  const chat::Conversation& machine = from.machine();
  ConversationRecord& record =
      records_.emplace(machine.id(), machine.group(),
                       chat::Conversation::Options{.items_max = options_.history_items}, memory_);
  gateway::restore(from, shard_.pool(), record);
  record.journaled_seq = record.machine.last_seq();
  index_by_id(record);
  if (!from.agent.empty()) unnamed_agents_.emplace(from.agent, record.self);
  return record;
}

/// As after the visitor's last connection: the grace begins with the start.
void Conversations::await_visitor(ConversationRecord& record) {
  hub::Endpoint* visitor = directory_.find_or_create(Role::visitor, record.visitor_id);
  TAUT_ASSERT(visitor != nullptr);  // there is room for the visitors of all open conversations
  visitor->add_topic(record.self, 0, record.machine.id());
  record.visitor = visitor->self;
}

void Conversations::tell_dispatcher_restored(const ConversationRecord& record, uint32_t number) {
  const chat::Conversation& machine = record.machine;
  RestoredMail mail{.conversation = record.self,
                    .number = number,
                    .group = machine.group(),
                    .opening = machine.opening(),
                    .owner_epoch = machine.owner_epoch(),
                    .accepted = machine.state() == chat::ConversationState::active};
  if (machine.owner()) {
    const std::string_view owner = machine.owner().id.view();
    mail.owner = shard_.pool().allocate_anyway(static_cast<uint32_t>(owner.size()));
    mail.owner->append(owner);
  }
  shard_.send(options_.dispatcher, mail_of(MailKind::conversation_restored, mail));
}

/// Where the agent is at home it gets an endpoint, in its grace: as after its last connection.
void Conversations::look_for_owner(const ConversationRecord& record) {
  const chat::Conversation& machine = record.machine;
  const std::string_view agent = machine.owner().id.view();
  Block* names = shard_.pool().allocate_anyway(static_cast<uint32_t>(agent.size() + machine.id().size()));
  names->append(agent);
  names->append(machine.id());
  shard_.send(shard_of(partition_of(Role::agent, agent), options_.shards),
              mail_of(MailKind::owner_restored, OwnerMail{.conversation = record.self,
                                                          .names = names,
                                                          .agent_bytes = static_cast<uint32_t>(agent.size()),
                                                          .opening = machine.opening(),
                                                          .owner_epoch = machine.owner_epoch()}));
  ++owners_sought_;
}

void Conversations::owner_found(const chat::OwnerMoved& found) {
  TAUT_ASSERT(owners_sought_ > 0);
  --owners_sought_;
  if (ConversationRecord* record = records_.find(found.conversation); record != nullptr)
    static_cast<void>(record->machine.apply(found));
}

/// Agents have numbers from the moment at which the dispatcher knows them.
void Conversations::agent_named(uint32_t index, std::string_view id) {
  if (agents_.size() <= index) agents_.resize(index + 1);
  agents_[index] = chat::InlineId(id);
  const auto [first, last] = unnamed_agents_.equal_range(id);
  for (auto it = first; it != last; ++it) {
    ConversationRecord* record = records_.find(it->second);
    if (record != nullptr && record->agent == chat::kNoAgent) record->agent = index;
  }
  unnamed_agents_.erase(first, last);
}

}  // namespace taut::gateway
