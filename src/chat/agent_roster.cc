#include "chat/agent_roster.h"

#include <algorithm>
#include <bit>

namespace taut::chat {

namespace {
constexpr uint32_t kWordBits = 64;
}

AgentRoster::AgentRoster(uint32_t groups, uint32_t agents_max, std::pmr::memory_resource& memory)
    : agents_(agents_max, memory),
      by_id_(&memory),
      rows_(agents_max, &memory),
      assignable_(&memory),
      words_per_group_((agents_max + kWordBits - 1) / kWordBits) {
  by_id_.reserve(agents_max);
  assignable_.resize(size_t{words_per_group_} * groups);
}

AgentRoster::~AgentRoster() {
  for (uint32_t i = agents_.size(); i > 0; --i) agents_.destroy(i - 1);
}

Agent* AgentRoster::find(std::string_view id) {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &agents_[it->second];
}

Agent* AgentRoster::find_or_add(std::string_view id) {
  if (Agent* agent = find(id)) return agent;
  if (agents_.full()) return nullptr;
  const uint32_t index = agents_.create();
  Agent& agent = agents_[index];
  agent.index = index;
  agent.id = InlineId(id);
  by_id_.emplace(agent.id.view(), index);
  return &agent;
}

void AgentRoster::set_groups(Agent& agent, GroupSet groups) {
  if (agent.groups == groups) return;
  set_assignable(agent, false);
  agent.groups = groups;
  refresh(agent);
}

bool AgentRoster::refresh(const Agent& agent) {
  Row& row = rows_[agent.index];
  row.load = static_cast<uint32_t>(agent.owned.size());
  row.capacity = agent.capacity();
  const bool assignable = unavailable(agent) == Exclusion::none;
  set_assignable(agent, assignable);
  return assignable;
}

bool AgentRoster::full(const Agent& agent) {
  return agent.owned.size() >= agent.capacity();
}

Exclusion AgentRoster::unavailable(const Agent& agent) const {
  if (!agent.connected) return Exclusion::disconnected;
  switch (agent.status) {
    case Presence::offline:
      return Exclusion::offline;
    case Presence::away:
      return Exclusion::away;
    case Presence::busy:
      return Exclusion::busy;
    case Presence::online:
      break;
  }
  return full(agent) ? Exclusion::full : Exclusion::none;
}

uint32_t AgentRoster::choose(GroupId group, uint32_t except) const {
  const uint64_t* words = assignable_.data() + size_t{words_per_group_} * group;
  const uint32_t used_words = (agents_.size() + kWordBits - 1) / kWordBits;
  uint32_t best = kNoAgent;
  for (uint32_t w = 0; w < used_words; ++w) {
    for (uint64_t bits = words[w]; bits != 0; bits &= bits - 1) {
      const uint32_t index = w * kWordBits + static_cast<uint32_t>(std::countr_zero(bits));
      if (index == except) continue;
      if (best == kNoAgent || before(rows_[index], rows_[best])) best = index;
    }
  }
  return best;
}

/// a.load / a.capacity < b.load / b.capacity without dividing; capacities of assignable agents are above 0.
bool AgentRoster::before(const Row& a, const Row& b) {
  const uint64_t left = uint64_t{a.load} * b.capacity;
  const uint64_t right = uint64_t{b.load} * a.capacity;
  return left != right ? left < right : a.last_assigned < b.last_assigned;
}

void AgentRoster::set_assignable(const Agent& agent, bool assignable) {
  const uint64_t bit = uint64_t{1} << agent.index % kWordBits;
  for (GroupSet rest = agent.groups; rest != 0; rest &= rest - 1) {
    const auto group = static_cast<GroupId>(std::countr_zero(rest));
    uint64_t& word = assignable_[size_t{words_per_group_} * group + agent.index / kWordBits];
    if (((word & bit) != 0) == assignable) continue;
    word ^= bit;
    assignable_count_[group] += assignable ? 1U : -1U;
  }
}

}  // namespace taut::chat
