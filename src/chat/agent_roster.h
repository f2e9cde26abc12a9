// The agents that the dispatcher knows, and for each group the set of those who can take a conversation now.
#pragma once

#include <algorithm>
#include <array>
#include <boost/intrusive/list.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "chat/dispatcher.h"
#include "chat/slab.h"
#include "chat/ticket.h"

namespace taut::chat {

struct Agent {
  uint32_t index = 0;
  InlineId id;
  AgentKey key;
  GroupSet groups = 0;
  Presence status = Presence::offline;
  uint32_t token_capacity = 0;
  uint32_t presence_capacity = Dispatcher::kTokenCapacity;
  bool connected = false;
  int64_t grace_until_ns = 0;
  boost::intrusive::list_member_hook<> grace_hook;
  OwnedTickets owned;  ///< its size is the agent's load

  [[nodiscard]] bool in_grace() const { return grace_hook.is_linked(); }
  [[nodiscard]] uint32_t capacity() const { return std::min(token_capacity, presence_capacity); }
  /// Its own word while a connection or its grace lives, else offline.
  [[nodiscard]] Presence effective_presence() const {
    return connected || in_grace() ? status : Presence::offline;
  }
};

using AgentsInGrace = boost::intrusive::list<
    Agent, boost::intrusive::member_hook<Agent, boost::intrusive::list_member_hook<>, &Agent::grace_hook>>;

/// Agents are numbered in the order in which they were first seen and never forgotten. One thread.
///
/// Who is assignable is kept as one bit per agent and group, next to a small row per agent with all that
/// choosing compares: a choice reads the group's words and one row per assignable agent.
class AgentRoster {
 public:
  AgentRoster(uint32_t groups, uint32_t agents_max, std::pmr::memory_resource& memory);
  AgentRoster(const AgentRoster&) = delete;
  AgentRoster& operator=(const AgentRoster&) = delete;
  ~AgentRoster();

  [[nodiscard]] uint32_t size() const { return agents_.size(); }
  [[nodiscard]] Agent& operator[](uint32_t index) { return agents_[index]; }
  [[nodiscard]] const Agent& operator[](uint32_t index) const { return agents_[index]; }
  /// nullptr: not known.
  [[nodiscard]] Agent* find(std::string_view id);
  [[nodiscard]] const Agent* find(std::string_view id) const {
    return const_cast<AgentRoster&>(*this).find(id);
  }
  /// nullptr: not known, and agents_max are.
  [[nodiscard]] Agent* find_or_add(std::string_view id);

  /// Moves the agent to other groups.
  void set_groups(Agent& agent, GroupSet groups);
  /// To be called after every change of what unavailable() looks at. Answers whether the agent is assignable
  /// now.
  bool refresh(const Agent& agent);
  /// The agent was given a conversation: among equals it is the last from now on.
  void note_assignment(const Agent& agent) { rows_[agent.index].last_assigned = ++assignments_; }

  [[nodiscard]] static bool full(const Agent& agent);
  /// The rules that concern the agent alone: why nothing may be assigned to it, or Exclusion::none.
  [[nodiscard]] Exclusion unavailable(const Agent& agent) const;
  [[nodiscard]] bool any_assignable(GroupId group) const { return assignable_count_[group] > 0; }
  /// The assignable agent of the group with the lowest load / capacity, among equals the one whose last
  /// assignment is longest ago, `except` left out; kNoAgent when there is none.
  [[nodiscard]] uint32_t choose(GroupId group, uint32_t except) const;

 private:
  struct Row {
    uint64_t last_assigned = 0;
    uint32_t load = 0;
    uint32_t capacity = 0;
  };

  [[nodiscard]] static bool before(const Row& a, const Row& b);
  void set_assignable(const Agent& agent, bool assignable);

  Slab<Agent> agents_;
  boost::unordered_flat_map<std::string_view, uint32_t, boost::hash<std::string_view>, std::equal_to<>,
                            std::pmr::polymorphic_allocator<std::pair<const std::string_view, uint32_t>>>
      by_id_;  ///< the keys stand in the agents
  std::pmr::vector<Row> rows_;
  std::pmr::vector<uint64_t> assignable_;  ///< words_per_group_ words for each group
  std::array<uint32_t, kGroupsMax> assignable_count_{};
  uint32_t words_per_group_;
  uint64_t assignments_ = 0;
};

}  // namespace taut::chat
