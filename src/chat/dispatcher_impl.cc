#include "chat/dispatcher_impl.h"

#include <optional>
#include <utility>

namespace taut::chat {

namespace {

/// Effects of a usual turn, in place from the start (56 KiB).
constexpr size_t kEffectsReserved = 1024;

}  // namespace

Dispatcher::Impl::Impl(const Options& o, std::pmr::memory_resource& m)
    : options(o),
      memory(&m),
      tickets(o.conversations_max, m),
      by_key(o.conversations_max, m),
      roster(o.groups, o.agents_max, m),
      effects(&m) {
  TAUT_ASSERT(o.groups > 0 && o.groups <= kGroupsMax && o.conversations_max > 0 && o.agents_max > 0);
  effects.reserve(kEffectsReserved);
  for (GroupId group = 0; group < o.groups; ++group) {
    const auto& [to, after_ns] = o.overflow[group];
    if (to == kNoGroup) continue;
    TAUT_ASSERT(to < o.groups && to != group);
    fed_by[to] |= group_bit(group);
    if (after_ns != kNoDeadline) overflow_timed |= group_bit(group);
  }
}

Dispatcher::Impl::~Impl() {
  offers.clear();
  holds.clear();
  graces.clear();
  for (OpenTickets& tickets_of_group : open_tickets) tickets_of_group.clear();
  const auto forget = [this](Ticket& ticket) { tickets.destroy(*by_key.find(ticket.key)); };
  for (GroupQueue& queue : queues) {
    while (queue.size() > 0) {
      Ticket& ticket = *queue.begin();
      queue.erase(ticket);
      forget(ticket);
    }
  }
  for (uint32_t i = 0; i < roster.size(); ++i) {
    roster[i].owned.clear_and_dispose([&forget](Ticket* ticket) { forget(*ticket); });
  }
}

// -- Reading --

Ticket* Dispatcher::Impl::find(ConversationKey key) {
  const std::optional<uint32_t> number = by_key.find(key);
  return number ? &tickets[*number] : nullptr;
}

Ticket* Dispatcher::Impl::find_offer(ConversationKey key, uint32_t owner_epoch) {
  Ticket* ticket = find(key);
  const bool current =
      ticket != nullptr && ticket->state == ConversationState::assigned && ticket->owner_epoch == owner_epoch;
  return current ? ticket : nullptr;
}

Exclusion Dispatcher::Impl::eligible(const Agent& agent, const Ticket& ticket) const {
  const GroupId overflow = overflow_of(ticket);
  const GroupSet groups = group_bit(ticket.group) | (overflow == kNoGroup ? 0 : group_bit(overflow));
  if ((agent.groups & groups) == 0) return Exclusion::not_in_group;
  if ((agent.groups & groups & open_groups) == 0) return Exclusion::closed;
  if (const Exclusion own = roster.unavailable(agent); own != Exclusion::none) return own;
  return ticket.held_from == agent.index ? Exclusion::held : Exclusion::none;
}

GroupId Dispatcher::Impl::overflow_of(const Ticket& ticket) const {
  const bool due = !is_open(ticket.group) || ticket.number <= overflowed[ticket.group];
  return due ? options.overflow[ticket.group].to : kNoGroup;
}

bool Dispatcher::Impl::anybody_for(const Ticket& ticket) const {
  const auto somebody = [this](GroupId group) { return is_open(group) && roster.any_assignable(group); };
  if (somebody(ticket.group)) return true;
  const GroupId overflow = overflow_of(ticket);
  return overflow != kNoGroup && somebody(overflow);
}

// -- Changing --

void Dispatcher::Impl::unsettle(GroupSet groups) {
  unsettled |= groups;
  for_each_group(groups & all_groups(), [this](GroupId group) { unsettled |= fed_by[group]; });
}

void Dispatcher::Impl::mark_overflows(GroupId group) {
  const int64_t after_ns = options.overflow[group].after_ns;
  OpenTickets& tickets_of_group = open_tickets[group];
  for (auto it = tickets_of_group.upper_bound(overflowed[group]);
       it != tickets_of_group.end() && it->opened_at_ns + after_ns <= now_ns; ++it) {
    overflowed[group] = it->number;
    unsettled |= group_bit(group);
  }
}

Ticket* Dispatcher::Impl::add(uint64_t number, ConversationKey key, GroupId group, uint32_t opening,
                              uint32_t owner_epoch) {
  TAUT_ASSERT(group < options.groups);
  if (tickets.full()) return nullptr;
  const uint32_t slot = tickets.create();
  by_key.insert(key, slot);
  Ticket& ticket = tickets[slot];
  ticket.number = number;
  ticket.key = key;
  ticket.opened_at_ns = now_ns;
  ticket.group = group;
  ticket.opening = opening;
  ticket.owner_epoch = owner_epoch;
  const auto place = open_tickets[group].insert(open_tickets[group].end(), ticket);
  TAUT_ASSERT(&*place == &ticket);
  return &ticket;
}

void Dispatcher::Impl::enqueue(Ticket& ticket) {
  ticket.state = ConversationState::queued;
  ticket.queued_at_ns = now_ns;
  GroupQueue& queue = queues[ticket.group];
  queue.insert(ticket);
  moved |= group_bit(ticket.group);
  unsettled |= group_bit(ticket.group);
}

void Dispatcher::Impl::dequeue(Ticket& ticket) {
  queues[ticket.group].erase(ticket);
  moved |= group_bit(ticket.group);
  if (ticket.held_from != kNoAgent) end_hold(ticket);
}

void Dispatcher::Impl::assign(Ticket& ticket, Agent& agent) {
  TAUT_ASSERT(eligible(agent, ticket) == Exclusion::none);
  dequeue(ticket);
  give(ticket, agent, Reason::transferred, false);
}

void Dispatcher::Impl::give(Ticket& ticket, Agent& agent, Reason reason, bool accepted) {
  // Who found an agent at once has not waited.
  if (ticket.state == ConversationState::queued && now_ns > ticket.queued_at_ns) {
    waits[ticket.group].add(now_ns - ticket.queued_at_ns);
  }
  ++ticket.owner_epoch;
  roster.note_assignment(agent);
  set_owner(ticket, agent, accepted);
  tell_assigned(ticket, agent, reason);
}

void Dispatcher::Impl::set_owner(Ticket& ticket, Agent& agent, bool accepted) {
  ticket.state = accepted ? ConversationState::active : ConversationState::assigned;
  ticket.owner = agent.index;
  if (!accepted) {
    ticket.deadline_ns = now_ns + options.accept_ns;
    offers.push_back(ticket);
  }
  agent.owned.push_back(ticket);
  (void)roster.refresh(agent);  // it has less room than before: nothing to settle
}

void Dispatcher::Impl::tell_assigned(const Ticket& ticket, const Agent& agent, Reason reason) {
  effects.push_back(Assign{.conversation = ticket.key,
                           .agent = agent.key,
                           .agent_index = agent.index,
                           .opening = ticket.opening,
                           .owner_epoch = ticket.owner_epoch,
                           .accept_ms = static_cast<uint32_t>(options.accept_ns / 1'000'000),
                           .reason = reason,
                           .accepted = ticket.state == ConversationState::active});
}

void Dispatcher::Impl::accept(Ticket& ticket) {
  offers.erase(offers.iterator_to(ticket));
  ticket.state = ConversationState::active;
}

void Dispatcher::Impl::accept_own(Ticket& ticket, const Agent& agent) {
  if (ticket.state == ConversationState::assigned) accept(ticket);
  tell_assigned(ticket, agent, Reason::taken);
}

void Dispatcher::Impl::detach(Ticket& ticket) {
  if (ticket.state == ConversationState::queued) {
    dequeue(ticket);
  } else {
    unassign(ticket);
  }
}

Agent& Dispatcher::Impl::unassign(Ticket& ticket) {
  Agent& agent = roster[ticket.owner];
  if (ticket.state == ConversationState::assigned) offers.erase(offers.iterator_to(ticket));
  agent.owned.erase(agent.owned.iterator_to(ticket));
  ticket.owner = kNoAgent;
  refresh(agent);
  return agent;
}

void Dispatcher::Impl::requeue(Ticket& ticket, Reason reason) {
  const Agent& agent = unassign(ticket);
  ++ticket.owner_epoch;
  enqueue(ticket);
  if (reason != Reason::offline) hold(ticket, agent);
  tell_requeued(ticket, reason);
}

void Dispatcher::Impl::tell_requeued(const Ticket& ticket, Reason reason) {
  effects.push_back(Requeue{.conversation = ticket.key,
                            .group = ticket.group,
                            .opening = ticket.opening,
                            .owner_epoch = ticket.owner_epoch,
                            .reason = reason});
}

void Dispatcher::Impl::tell_moved(const Ticket& ticket, const Agent& agent) {
  effects.push_back(OwnerMoved{.conversation = ticket.key,
                               .agent = agent.key,
                               .opening = ticket.opening,
                               .owner_epoch = ticket.owner_epoch});
}

void Dispatcher::Impl::hold(Ticket& ticket, const Agent& agent) {
  ticket.held_from = agent.index;
  ticket.deadline_ns = now_ns + options.hold_ns;
  holds.push_back(ticket);
}

void Dispatcher::Impl::end_hold(Ticket& ticket) {
  ticket.held_from = kNoAgent;
  holds.erase(holds.iterator_to(ticket));
}

void Dispatcher::Impl::refresh(const Agent& agent) {
  if (roster.refresh(agent)) unsettle(agent.groups);
}

void Dispatcher::Impl::start_grace(Agent& agent) {
  agent.grace_until_ns = now_ns + options.grace_ns;
  graces.push_back(agent);
}

void Dispatcher::Impl::lose_agent(Agent& agent) {
  while (!agent.owned.empty()) requeue(agent.owned.front(), Reason::offline);
}

/// Gives waiting conversations of the unsettled groups to agents, oldest first over all these groups, until
/// none of them can be given. Groups that are settled need no look: an assignment only takes room away.
void Dispatcher::Impl::settle() {
  std::array<GroupQueue::Iterator, kGroupsMax> cursors;
  for_each_group(unsettled, [&](GroupId group) { cursors[group] = queues[group].begin(); });
  GroupSet open = std::exchange(unsettled, 0);
  while (Ticket* ticket = next_waiting(open, cursors)) {
    const uint32_t agent = choose(*ticket);
    if (agent != kNoAgent) assign(*ticket, roster[agent]);
  }
}

uint32_t Dispatcher::Impl::choose(const Ticket& ticket) const {
  const bool familiar =
      ticket.preferred < roster.size() && eligible(roster[ticket.preferred], ticket) == Exclusion::none;
  if (familiar) return ticket.preferred;
  if (is_open(ticket.group)) {
    if (const uint32_t own = roster.choose(ticket.group, ticket.held_from); own != kNoAgent) return own;
  }
  const GroupId overflow = overflow_of(ticket);
  return overflow != kNoGroup && is_open(overflow) ? roster.choose(overflow, ticket.held_from) : kNoAgent;
}

void Dispatcher::Impl::tell_position(const Ticket& ticket, uint32_t place) {
  const std::optional<int64_t> median_ns = waits[ticket.group].median_ns();
  effects.push_back(Position{.conversation = ticket.key,
                             .opening = ticket.opening,
                             .position = place,
                             .has_eta = median_ns.has_value(),
                             .eta_ms = static_cast<uint64_t>(median_ns.value_or(0) / 1'000'000) * place});
}

/// The oldest conversation not yet looked at, of the open groups for which somebody is assignable; closes the
/// others. (Whom nobody could be found for, nobody is found for those behind it either.)
Ticket* Dispatcher::Impl::next_waiting(GroupSet& open,
                                       std::array<GroupQueue::Iterator, kGroupsMax>& cursors) {
  Ticket* oldest = nullptr;
  for_each_group(open, [&](GroupId group) {
    if (cursors[group] == queues[group].end() || !anybody_for(*cursors[group])) {
      open &= ~group_bit(group);
    } else if (oldest == nullptr || cursors[group]->number < oldest->number) {
      oldest = &*cursors[group];
    }
  });
  if (oldest != nullptr) ++cursors[oldest->group];
  return oldest;
}

}  // namespace taut::chat
