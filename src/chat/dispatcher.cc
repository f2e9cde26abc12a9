#include "chat/dispatcher.h"

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <optional>
#include <utility>

#include "chat/agent_roster.h"
#include "chat/group_queue.h"
#include "chat/handle_map.h"
#include "chat/slab.h"
#include "chat/ticket.h"

namespace taut::chat {

namespace {

/// Effects of a usual turn, in place from the start (56 KiB).
constexpr size_t kEffectsReserved = 1024;

template <class Visit>
void for_each_group(GroupSet groups, Visit&& visit) {
  for (; groups != 0; groups &= groups - 1) visit(static_cast<GroupId>(std::countr_zero(groups)));
}

}  // namespace

std::string_view name(Exclusion exclusion) {
  static constexpr std::string_view kNames[] = {"none", "not_in_group", "disconnected", "offline",
                                                "away", "busy",         "full",         "held"};
  return kNames[static_cast<size_t>(exclusion)];
}

/// Every event works in two steps: change what happened, marking in `unsettled` the groups where a
/// conversation or a place has come free; then settle(), which alone assigns.
struct Dispatcher::Impl {
  Impl(const Options& o, std::pmr::memory_resource& m)
      : options(o),
        memory(&m),
        tickets(o.conversations_max, m),
        by_key(o.conversations_max, m),
        roster(o.groups, o.agents_max, m),
        effects(&m) {
    TAUT_ASSERT(o.groups > 0 && o.groups <= kGroupsMax && o.conversations_max > 0 && o.agents_max > 0);
    effects.reserve(kEffectsReserved);
  }
  ~Impl();

  void at(int64_t time_ns) { now_ns = std::max(now_ns, time_ns); }
  [[nodiscard]] GroupSet all_groups() const { return ~GroupSet{0} >> (kGroupsMax - options.groups); }
  [[nodiscard]] Ticket* find(ConversationKey key);
  /// The conversation if it is waiting for the answer to exactly that assignment.
  [[nodiscard]] Ticket* find_offer(ConversationKey key, uint32_t owner_epoch);

  [[nodiscard]] Exclusion eligible(const Agent& agent, const Ticket& ticket) const;
  void enqueue(Ticket& ticket);
  void dequeue(Ticket& ticket);
  void assign(Ticket& ticket, Agent& agent);
  /// Takes it from its owner; it is nowhere then.
  Agent& unassign(Ticket& ticket);
  void requeue(Ticket& ticket, Reason reason);
  void hold(Ticket& ticket, const Agent& agent);
  void end_hold(Ticket& ticket);
  void refresh(const Agent& agent);
  void lose_agent(Agent& agent);
  void settle();
  [[nodiscard]] Ticket* next_waiting(GroupSet& open, std::array<GroupQueue::Iterator, kGroupsMax>& cursors);

  const Options options;
  std::pmr::memory_resource* const memory;
  int64_t now_ns = INT64_MIN;
  uint64_t openings = 0;
  GroupSet unsettled = 0;
  GroupSet moved = 0;  ///< groups whose queue changed since flush_positions()

  Slab<Ticket> tickets;
  HandleMap by_key;
  AgentRoster roster;
  std::array<GroupQueue, kGroupsMax> queues;
  // Each list is in order of its deadlines, because each has one duration and time never goes back.
  DeadlineTickets offers;
  DeadlineTickets holds;
  AgentsInGrace graces;
  std::pmr::vector<Effect> effects;
};

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
  if ((agent.groups & group_bit(ticket.group)) == 0) return Exclusion::not_in_group;
  if (const Exclusion own = roster.unavailable(agent); own != Exclusion::none) return own;
  return ticket.held_from == agent.index ? Exclusion::held : Exclusion::none;
}

// -- Changing --

void Dispatcher::Impl::enqueue(Ticket& ticket) {
  ticket.state = ConversationState::queued;
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
  ticket.state = ConversationState::assigned;
  ticket.owner = agent.index;
  ++ticket.owner_epoch;
  ticket.deadline_ns = now_ns + options.accept_ns;
  offers.push_back(ticket);
  agent.owned.push_back(ticket);
  roster.note_assignment(agent);
  (void)roster.refresh(agent);  // it has less room than before: nothing to settle
  effects.push_back(Assign{.conversation = ticket.key,
                           .agent = agent.key,
                           .agent_index = agent.index,
                           .opening = ticket.opening,
                           .owner_epoch = ticket.owner_epoch,
                           .accept_ms = static_cast<uint32_t>(options.accept_ns / 1'000'000)});
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
  if (reason == Reason::declined || reason == Reason::timeout) hold(ticket, agent);
  effects.push_back(Requeue{.conversation = ticket.key,
                            .opening = ticket.opening,
                            .owner_epoch = ticket.owner_epoch,
                            .reason = reason});
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
  if (roster.refresh(agent)) unsettled |= agent.groups;
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
    const uint32_t agent = roster.choose(ticket->group, ticket->held_from);
    if (agent != kNoAgent) assign(*ticket, roster[agent]);
  }
}

/// The oldest conversation not yet looked at, of the open groups in which somebody is assignable; closes the
/// others.
Ticket* Dispatcher::Impl::next_waiting(GroupSet& open,
                                       std::array<GroupQueue::Iterator, kGroupsMax>& cursors) {
  Ticket* oldest = nullptr;
  for_each_group(open, [&](GroupId group) {
    if (cursors[group] == queues[group].end() || !roster.any_assignable(group)) {
      open &= ~group_bit(group);
    } else if (oldest == nullptr || cursors[group]->number < oldest->number) {
      oldest = &*cursors[group];
    }
  });
  if (oldest != nullptr) ++cursors[oldest->group];
  return oldest;
}

Dispatcher::Impl::~Impl() {
  offers.clear();
  holds.clear();
  graces.clear();
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
    for (const Ticket& ticket : agent->owned) {
      impl_->effects.push_back(OwnerMoved{.conversation = ticket.key,
                                          .agent = key,
                                          .opening = ticket.opening,
                                          .owner_epoch = ticket.owner_epoch});
    }
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
  agent->grace_until_ns = impl_->now_ns + impl_->options.grace_ns;
  impl_->graces.push_back(*agent);
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
                                     uint32_t owner_epoch, int64_t now_ns) {
  TAUT_ASSERT(group < impl_->options.groups);
  impl_->at(now_ns);
  if (impl_->tickets.full()) return false;
  const uint32_t number = impl_->tickets.create();
  impl_->by_key.insert(key, number);
  Ticket& ticket = impl_->tickets[number];
  ticket.number = ++impl_->openings;
  ticket.key = key;
  ticket.group = group;
  ticket.opening = opening;
  ticket.owner_epoch = owner_epoch;
  impl_->enqueue(ticket);
  impl_->settle();
  const uint32_t place = impl_->queues[group].size();
  if (ticket.state == ConversationState::queued && place > kNearPositions) {
    // The last place is known without counting; the cursor may take a while to come by.
    ticket.position_told = place;
    impl_->effects.push_back(Position{.conversation = key, .opening = opening, .position = place});
  }
  return true;
}

void Dispatcher::accepted(ConversationKey key, uint32_t owner_epoch, int64_t now_ns) {
  impl_->at(now_ns);
  Ticket* ticket = impl_->find_offer(key, owner_epoch);
  if (ticket == nullptr) return;
  impl_->offers.erase(impl_->offers.iterator_to(*ticket));
  ticket->state = ConversationState::active;
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
  if (ticket->state == ConversationState::queued) {
    impl_->dequeue(*ticket);
  } else {
    impl_->unassign(*ticket);
  }
  impl_->tickets.destroy(*impl_->by_key.find(key));
  impl_->by_key.erase(key);
  impl_->settle();
}

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
  impl_->settle();
}

int64_t Dispatcher::next_deadline_ns() const {
  int64_t next = kNoDeadline;
  if (!impl_->offers.empty()) next = std::min(next, impl_->offers.front().deadline_ns);
  if (!impl_->holds.empty()) next = std::min(next, impl_->holds.front().deadline_ns);
  if (!impl_->graces.empty()) next = std::min(next, impl_->graces.front().grace_until_ns);
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
        kNearPositions, kFarPositionsPerFlush, [this](const Ticket& ticket, uint32_t place) {
          impl_->effects.push_back(
              Position{.conversation = ticket.key, .opening = ticket.opening, .position = place});
        });
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
  const bool there = agent != nullptr && (agent->connected || agent->in_grace());
  return there ? agent->status : Presence::offline;
}

uint32_t Dispatcher::queued(GroupId group) const {
  TAUT_ASSERT(group < impl_->options.groups);
  return impl_->queues[group].size();
}

uint32_t Dispatcher::conversations() const {
  return impl_->tickets.size();
}

}  // namespace taut::chat
