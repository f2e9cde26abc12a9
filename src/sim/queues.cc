#include "sim/queues.h"

#include <algorithm>
#include <utility>

namespace taut::sim {

void Queues::told(const Event& event) {
  const bool opens = event.name == "opened" || event.name == "reopened";
  const bool waits =
      opens || event.name == "requeued" || (event.name == "transferred" && event.agent.empty());
  const bool assigned = event.name == "assigned";
  if (!waits && !assigned && event.name != "transferred" && event.name != "closed") return;
  Conversation& c = conversations_[std::string(event.conversation)];
  // Who opens one that is open is answered so, too, and it may be of an `open` that was not answered.
  const bool just_opened =
      !event.opener.empty() && unanswered_.erase({std::string(event.opener), std::string(event.group)}) == 0;
  const auto found = c.moves.find(event.seq);
  if (found != c.moves.end() && found->second.epoch >= event.epoch) return;
  std::erase_if(c.moves, [&event](const auto& move) {
    return move.first >= event.seq && move.second.epoch < event.epoch;
  });
  c.moves[event.seq] = {.epoch = event.epoch,
                        .opens = opens,
                        .waits = waits,
                        .assigned = assigned,
                        .owned = assigned || (event.name == "transferred" && !waits),
                        .group = std::string(event.group),
                        .agent = std::string(event.agent),
                        .rest = rests_};
  if (!opens || event.seq < c.opening) return;
  c.opening = event.seq;
  c.opened_after = just_opened || (event.name == "reopened" && c.known_at == rests_) ? rests_ : 0;
  c.opened_before = 0;
  c.incomplete = c.incomplete && event.name != "reopened";
}

void Queues::unanswered(std::string_view opener, std::string_view group) {
  unanswered_.emplace(opener, group);
}

void Queues::incomplete(std::string_view conversation) {
  conversations_[std::string(conversation)].incomplete = true;
}

void Queues::asks_for(std::string_view conversation, std::string_view agent) {
  conversations_[std::string(conversation)].asked_for.emplace(agent);
}

void Queues::known(std::string_view conversation, const Reader& reader, uint64_t position) {
  Conversation& c = conversations_[std::string(conversation)];
  std::erase_if(c.moves, [&reader](const auto& move) {
    const uint64_t epoch = reader.epoch_at(move.first);
    return move.first > reader.seq() || (epoch != 0 && epoch != move.second.epoch);
  });
  if (c.incomplete || !c.moves.contains(c.opening)) return;
  // A device that came later has not seen it from the opening on.
  for (uint64_t seq = c.opening; seq <= reader.seq(); ++seq) {
    if (reader.epoch_at(seq) == 0) return;
  }
  if (c.known_at != rests_ + 1) c.known_before = std::exchange(c.known_at, rests_ + 1);
  if (c.opened_before == 0) c.opened_before = rests_ + 1;
  if (position != 0) c.position = position;
}

std::string_view Queues::group_at(const Conversation& c, uint64_t seq) {
  std::string_view group;
  for (const auto& [at, move] : c.moves) {
    if (at <= seq && !move.group.empty()) group = move.group;
  }
  return group;
}

void Queues::at_rest() {
  for (const auto& [id, c] : conversations_) {
    if (c.known_at != rests_ + 1) continue;
    judge_positions(id, c);
    if (undisturbed_) judge_assignments(id, c);
  }
  if (!crashed_) judge_loads();
  for (auto& [id, c] : conversations_) {
    c.asked_for.clear();
    c.position = 0;
  }
  ++rests_;
  undisturbed_ = true;
}

void Queues::judge_loads() {
  std::map<std::string, uint32_t> loads;
  for (const auto& [id, c] : conversations_) {
    if (c.known_at == rests_ + 1 && c.moves.rbegin()->second.owned) ++loads[c.moves.rbegin()->second.agent];
  }
  for (const auto& [agent, load] : loads) {
    const uint32_t capacity = capacities_[agent];
    if (load <= capacity) continue;
    oracle_.complain("load is at most capacity",
                     agent + " has " + std::to_string(load) + " of " + std::to_string(capacity));
  }
}

void Queues::judge_positions(const std::string& id, const Conversation& c) {
  if (!waits(c) || c.position == 0) return;
  const std::string_view group = group_at(c, c.moves.rbegin()->first);
  for (const auto& [other_id, other] : conversations_) {
    if (other.known_at != c.known_at || !waits(other) || other.position == 0 || !surely_older(other, c) ||
        group_at(other, other.moves.rbegin()->first) != group)
      continue;
    if (other.position < c.position) continue;
    oracle_.complain("queues have the order of opening",
                     other_id + " is older than " + id + ", and behind it, at " +
                         std::to_string(other.position) + " and " + std::to_string(c.position));
  }
}

/// `c` is what was assigned.
void Queues::judge_assignments(const std::string& id, const Conversation& c) {
  if (c.known_before != rests_ && c.opened_after != rests_) return;
  for (const auto& [seq, move] : c.moves) {
    if (!move.assigned || move.rest != rests_ || seq < c.opening || c.asked_for.contains(move.agent))
      continue;
    const std::string_view group = group_at(c, seq);
    for (const auto& [other_id, other] : conversations_) {
      if (other.known_at != c.known_at || !waits(other) || other.moves.rbegin()->second.rest == rests_ ||
          !surely_older(other, c) || group_at(other, other.moves.rbegin()->first) != group)
        continue;
      // What an agent gave back is held from it for a while.
      if (std::ranges::any_of(other.moves,
                              [&move](const auto& its) { return its.second.agent == move.agent; }))
        continue;
      oracle_.complain("who waits longest is first",
                       move.agent + " got " + id + " while " + other_id + " had waited longer");
    }
  }
}

}  // namespace taut::sim
