// The dispatcher's state, and the few changes out of which every event is made.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "chat/agent_roster.h"
#include "chat/dispatcher.h"
#include "chat/group_queue.h"
#include "chat/handle_map.h"
#include "chat/slab.h"
#include "chat/ticket.h"
#include "chat/wait_history.h"

namespace taut::chat {

template <class Visit>
void for_each_group(GroupSet groups, Visit&& visit) {
  for (; groups != 0; groups &= groups - 1) visit(static_cast<GroupId>(std::countr_zero(groups)));
}

/// Numbers up to here are those of restored conversations, so that new ones come behind them.
inline constexpr uint64_t kRestoredNumberMax = UINT32_MAX;

/// Every event works in two steps: change what happened, marking in `unsettled` the groups where a
/// conversation or a place has come free; then settle(), which alone assigns.
struct Dispatcher::Impl {
  Impl(const Options& o, std::pmr::memory_resource& m);
  ~Impl();

  void at(int64_t time_ns) { now_ns = std::max(now_ns, time_ns); }
  [[nodiscard]] GroupSet all_groups() const { return ~GroupSet{0} >> (kGroupsMax - options.groups); }
  [[nodiscard]] Ticket* find(ConversationKey key);
  /// The conversation if it is waiting for the answer to exactly that assignment.
  [[nodiscard]] Ticket* find_offer(ConversationKey key, uint32_t owner_epoch);

  [[nodiscard]] static bool owned(const Ticket& ticket, uint32_t owner_epoch) {
    return ticket.owner != kNoAgent && ticket.owner_epoch == owner_epoch;
  }

  [[nodiscard]] Exclusion eligible(const Agent& agent, const Ticket& ticket) const;
  [[nodiscard]] bool is_open(GroupId group) const { return (open_groups & group_bit(group)) != 0; }
  /// Into which it overflows by now; kNoGroup: into none. What holds for a ticket holds for the older ones.
  [[nodiscard]] GroupId overflow_of(const Ticket& ticket) const;
  /// Whether there is anybody in its groups who could be assigned something, holds aside.
  [[nodiscard]] bool anybody_for(const Ticket& ticket) const;
  /// A place in these groups: where it may be of use.
  void unsettle(GroupSet groups);
  /// Notes which conversations of the group have waited long enough to overflow.
  void mark_overflows(GroupId group);
  [[nodiscard]] ListPage list_groups(const Agent& agent, uint64_t after, std::span<Listed> out,
                                     bool only_queued) const;
  /// An open conversation that is nowhere yet; nullptr: conversations_max are open.
  [[nodiscard]] Ticket* add(uint64_t number, ConversationKey key, GroupId group, uint32_t opening,
                            uint32_t owner_epoch);
  void enqueue(Ticket& ticket);
  void dequeue(Ticket& ticket);
  /// The decision of settle(). REQUIRES: queued, the agent eligible.
  void assign(Ticket& ticket, Agent& agent);
  /// REQUIRES: the conversation is nowhere, the agent has room. `reason` is for an owner who lost it.
  void give(Ticket& ticket, Agent& agent, Reason reason, bool accepted);
  /// It is the agent's; offered, if it has not accepted.
  void set_owner(Ticket& ticket, Agent& agent, bool accepted);
  /// Ends the offer.
  void accept(Ticket& ticket);
  /// The owner takes it; the conversation need not have heard of the assignment, or of its accept.
  void accept_own(Ticket& ticket, const Agent& agent);
  void tell_assigned(const Ticket& ticket, const Agent& agent, Reason reason);
  /// Takes it out of the queue or from its owner; it is nowhere then.
  void detach(Ticket& ticket);
  /// The same for one that has an owner; answers that.
  Agent& unassign(Ticket& ticket);
  void requeue(Ticket& ticket, Reason reason);
  void tell_requeued(const Ticket& ticket, Reason reason);
  void tell_moved(const Ticket& ticket, const Agent& agent);
  void hold(Ticket& ticket, const Agent& agent);
  void end_hold(Ticket& ticket);
  void refresh(const Agent& agent);
  void start_grace(Agent& agent);
  void lose_agent(Agent& agent);
  void settle();
  [[nodiscard]] uint32_t choose(const Ticket& ticket) const;
  void tell_position(const Ticket& ticket, uint32_t place);
  [[nodiscard]] Ticket* next_waiting(GroupSet& open, std::array<GroupQueue::Iterator, kGroupsMax>& cursors);

  const Options options;
  std::pmr::memory_resource* const memory;
  int64_t now_ns = INT64_MIN;
  uint64_t openings = kRestoredNumberMax;  ///< the number of the last one
  GroupSet unsettled = 0;
  GroupSet moved = 0;  ///< groups whose queue changed since flush_positions()
  GroupSet open_groups = ~GroupSet{0};
  GroupSet overflow_timed = 0;                    ///< groups that overflow after a time
  std::array<GroupSet, kGroupsMax> fed_by{};      ///< groups that overflow into this one
  std::array<uint64_t, kGroupsMax> overflowed{};  ///< up to this number the group's tickets overflow

  Slab<Ticket> tickets;
  HandleMap by_key;
  AgentRoster roster;
  std::array<GroupQueue, kGroupsMax> queues;
  std::array<OpenTickets, kGroupsMax> open_tickets;  ///< all of each group, whatever their state
  std::array<WaitHistory, kGroupsMax> waits;
  // Each list is in order of its deadlines, because each has one duration and time never goes back.
  DeadlineTickets offers;
  DeadlineTickets holds;
  AgentsInGrace graces;
  std::pmr::vector<Effect> effects;
};

}  // namespace taut::chat
