#include "chat/dispatcher.h"

#include <algorithm>
#include <new>
#include <utility>

#include "chat/dispatcher_impl.h"

namespace taut::chat {

std::string_view name(Exclusion exclusion) {
  static constexpr std::string_view kNames[] = {"none", "not_in_group", "closed", "disconnected", "offline",
                                                "away", "busy",         "full",   "held"};
  return kNames[static_cast<size_t>(exclusion)];
}

// -- Events --

Dispatcher::Dispatcher(const Options& options, std::pmr::memory_resource& memory)
    : impl_(new(memory.allocate(sizeof(Impl), alignof(Impl))) Impl(options, memory)) {}

Dispatcher::~Dispatcher() {
  std::pmr::memory_resource* memory = impl_->memory;
  impl_->~Impl();
  memory->deallocate(impl_, sizeof(Impl), alignof(Impl));
}

bool Dispatcher::agent_connected(std::string_view id, AgentKey key, const AgentFacts& facts, int64_t now_ns) {
  impl_->at(now_ns);
  Agent* agent = impl_->roster.find_or_add(id);
  if (agent == nullptr) return false;
  if (agent->in_grace()) impl_->graces.erase(impl_->graces.iterator_to(*agent));
  if (agent->key != key) {
    agent->key = key;
    for (const Ticket& ticket : agent->owned) impl_->tell_moved(ticket, *agent);
  }
  agent->connected = true;
  agent->token_capacity = facts.capacity;
  impl_->roster.set_groups(*agent, facts.groups & impl_->all_groups());
  impl_->refresh(*agent);
  impl_->settle();
  return true;
}

void Dispatcher::agent_disconnected(std::string_view id, AgentKey key, int64_t now_ns) {
  impl_->at(now_ns);
  Agent* agent = impl_->roster.find(id);
  if (agent == nullptr || !agent->connected || agent->key != key) return;
  agent->connected = false;
  impl_->start_grace(*agent);
  impl_->refresh(*agent);
}

void Dispatcher::agent_presence(std::string_view id, Presence status, uint32_t capacity, int64_t now_ns) {
  impl_->at(now_ns);
  Agent* agent = impl_->roster.find(id);
  if (agent == nullptr) return;
  agent->status = status;
  agent->presence_capacity = capacity;
  impl_->refresh(*agent);
  impl_->settle();
}

bool Dispatcher::conversation_opened(ConversationKey key, GroupId group, uint32_t opening,
                                     uint32_t owner_epoch, int64_t now_ns, uint32_t preferred) {
  impl_->at(now_ns);
  Ticket* const added = impl_->add(impl_->openings + 1, key, group, opening, owner_epoch);
  if (added == nullptr) return false;
  ++impl_->openings;
  Ticket& ticket = *added;
  ticket.preferred = preferred;
  impl_->enqueue(ticket);
  impl_->settle();
  const uint32_t place = impl_->queues[group].size();
  if (ticket.state == ConversationState::queued && place > kNearPositions) {
    // The last place is known without counting; the cursor may take a while to come by.
    ticket.position_told = place;
    impl_->tell_position(ticket, place);
  }
  return true;
}

void Dispatcher::accepted(ConversationKey key, uint32_t owner_epoch, int64_t now_ns) {
  impl_->at(now_ns);
  Ticket* ticket = impl_->find_offer(key, owner_epoch);
  if (ticket == nullptr) return;
  impl_->accept(*ticket);
}

void Dispatcher::declined(ConversationKey key, uint32_t owner_epoch, int64_t now_ns) {
  impl_->at(now_ns);
  Ticket* ticket = impl_->find_offer(key, owner_epoch);
  if (ticket == nullptr) return;
  impl_->requeue(*ticket, Reason::declined);
  impl_->settle();
}

void Dispatcher::closed(ConversationKey key, int64_t now_ns) {
  impl_->at(now_ns);
  Ticket* ticket = impl_->find(key);
  if (ticket == nullptr) return;
  impl_->detach(*ticket);
  impl_->open_tickets[ticket->group].erase(ticket->number);
  impl_->tickets.destroy(*impl_->by_key.find(key));
  impl_->by_key.erase(key);
  impl_->settle();
}

void Dispatcher::group_hours(GroupId group, bool open, int64_t now_ns) {
  TAUT_ASSERT(group < impl_->options.groups);
  impl_->at(now_ns);
  if (impl_->is_open(group) == open) return;
  impl_->open_groups ^= group_bit(group);
  impl_->unsettle(group_bit(group));
  impl_->settle();
}

// -- Requests --

Code Dispatcher::take(ConversationKey key, std::string_view agent_id, int64_t now_ns) {
  impl_->at(now_ns);
  Ticket* ticket = impl_->find(key);
  if (ticket == nullptr) return Code::closed;
  Agent* agent = impl_->roster.find(agent_id);
  if (agent == nullptr) return Code::not_yours;
  if (ticket->owner == agent->index) {
    impl_->accept_own(*ticket, *agent);
    return Code::ok;
  }
  if ((agent->groups & group_bit(ticket->group)) == 0) return Code::not_yours;
  if (ticket->state == ConversationState::active) return Code::taken;
  if (AgentRoster::full(*agent)) return Code::capacity;
  impl_->detach(*ticket);
  impl_->give(*ticket, *agent, Reason::taken, true);
  impl_->settle();
  return Code::ok;
}

Code Dispatcher::transfer_to_agent(ConversationKey key, uint32_t owner_epoch, std::string_view agent_id,
                                   int64_t now_ns) {
  impl_->at(now_ns);
  Ticket* ticket = impl_->find(key);
  if (ticket == nullptr) return Code::closed;
  if (!Impl::owned(*ticket, owner_epoch)) return Code::not_yours;
  Agent* agent = impl_->roster.find(agent_id);
  if (agent == nullptr || effective_presence(agent_id) == Presence::offline) return Code::unavailable;
  if ((agent->groups & group_bit(ticket->group)) == 0) return Code::forbidden;
  if (ticket->owner == agent->index) return Code::ok;
  if (!agent->connected || AgentRoster::full(*agent)) return Code::capacity;
  impl_->detach(*ticket);
  impl_->give(*ticket, *agent, Reason::transferred, false);
  impl_->settle();
  return Code::ok;
}

Code Dispatcher::transfer_to_group(ConversationKey key, uint32_t owner_epoch, GroupId group, int64_t now_ns) {
  TAUT_ASSERT(group < impl_->options.groups);
  impl_->at(now_ns);
  Ticket* ticket = impl_->find(key);
  if (ticket == nullptr) return Code::closed;
  if (!Impl::owned(*ticket, owner_epoch)) return Code::not_yours;
  impl_->open_tickets[ticket->group].erase(ticket->number);
  ticket->group = group;
  impl_->open_tickets[group].insert(*ticket);
  if ((impl_->overflow_timed & group_bit(group)) != 0) impl_->mark_overflows(group);
  impl_->requeue(*ticket, Reason::transferred);
  impl_->settle();
  return Code::ok;
}

// -- Time --

void Dispatcher::advance(int64_t now_ns) {
  impl_->at(now_ns);
  const auto due = [this](int64_t deadline_ns) { return deadline_ns <= impl_->now_ns; };
  while (!impl_->offers.empty() && due(impl_->offers.front().deadline_ns)) {
    impl_->requeue(impl_->offers.front(), Reason::timeout);
  }
  while (!impl_->graces.empty() && due(impl_->graces.front().grace_until_ns)) {
    Agent& agent = impl_->graces.front();
    impl_->graces.pop_front();
    impl_->lose_agent(agent);
  }
  while (!impl_->holds.empty() && due(impl_->holds.front().deadline_ns)) {
    Ticket& ticket = impl_->holds.front();
    impl_->end_hold(ticket);
    impl_->unsettled |= group_bit(ticket.group);
  }
  for_each_group(impl_->overflow_timed, [this](GroupId group) { impl_->mark_overflows(group); });
  impl_->settle();
}

int64_t Dispatcher::next_deadline_ns() const {
  int64_t next = kNoDeadline;
  if (!impl_->offers.empty()) next = std::min(next, impl_->offers.front().deadline_ns);
  if (!impl_->holds.empty()) next = std::min(next, impl_->holds.front().deadline_ns);
  if (!impl_->graces.empty()) next = std::min(next, impl_->graces.front().grace_until_ns);
  for_each_group(impl_->overflow_timed, [this, &next](GroupId group) {
    const auto it = impl_->open_tickets[group].upper_bound(impl_->overflowed[group]);
    if (it != impl_->open_tickets[group].end())
      next = std::min(next, it->opened_at_ns + impl_->options.overflow[group].after_ns);
  });
  return next;
}

// -- Effects --

std::span<const Effect> Dispatcher::effects() const {
  return impl_->effects;
}

void Dispatcher::clear_effects() {
  impl_->effects.clear();
}

void Dispatcher::flush_positions() {
  for_each_group(std::exchange(impl_->moved, 0), [this](GroupId group) {
    impl_->queues[group].look(
        kNearPositions, kFarPositionsPerFlush,
        [this](const Ticket& ticket, uint32_t place) { impl_->tell_position(ticket, place); });
  });
}

// -- Reading --

Exclusion Dispatcher::eligible(uint32_t agent_index, ConversationKey key) const {
  TAUT_ASSERT(agent_index < agents());
  const Ticket* ticket = impl_->find(key);
  TAUT_ASSERT(ticket != nullptr);
  return impl_->eligible(impl_->roster[agent_index], *ticket);
}

uint32_t Dispatcher::agents() const {
  return impl_->roster.size();
}

std::string_view Dispatcher::agent_id(uint32_t agent_index) const {
  TAUT_ASSERT(agent_index < agents());
  return impl_->roster[agent_index].id.view();
}

uint32_t Dispatcher::load(std::string_view id) const {
  const Agent* agent = impl_->roster.find(id);
  return agent == nullptr ? 0 : static_cast<uint32_t>(agent->owned.size());
}

void Dispatcher::owned(std::string_view id, std::pmr::vector<ConversationKey>& out) const {
  const Agent* agent = impl_->roster.find(id);
  if (agent == nullptr) return;
  for (const Ticket& ticket : agent->owned) out.push_back(ticket.key);
}

Presence Dispatcher::effective_presence(std::string_view id) const {
  const Agent* agent = impl_->roster.find(id);
  return agent == nullptr ? Presence::offline : agent->effective_presence();
}

uint32_t Dispatcher::queued(GroupId group) const {
  TAUT_ASSERT(group < impl_->options.groups);
  return impl_->queues[group].size();
}

uint32_t Dispatcher::conversations() const {
  return impl_->tickets.size();
}

}  // namespace taut::chat
