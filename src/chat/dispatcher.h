// Who gets which conversation: agents, capacity, queues and assignment, as one pure state machine.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

#include "chat/types.h"

namespace taut::chat {

/// Why a conversation may not go to an agent: the first rule that excludes it, in the order of this list.
enum class Exclusion : uint8_t { none, not_in_group, closed, disconnected, offline, away, busy, full, held };
[[nodiscard]] std::string_view name(Exclusion exclusion);

/// Sole authority for ownership and load; one object, on shard 0, one thread. Events in, effects out: each
/// event may append to effects(), which the caller sends on, in order, and clears.
///
/// Rules
/// * A conversation waits in its group's queue in the order of opening, and keeps that place for ever:
/// time-out,
///   decline and a lost agent bring it back to it. Reopening is a new opening.
/// * It goes to the eligible agent with the lowest load / capacity; among equals to the one whose last
/// assignment is
///   longest ago. An agent who becomes free gets the oldest conversation, of all its groups, that it is
///   eligible for. So after every event no conversation waits while an agent could take it.
/// * A visitor who comes back gets the agent of the last time before all others, if that one is eligible.
/// * Outside its working hours a group's agents are assigned nothing of it; they may take. What waits keeps
/// its place.
/// * A group may overflow into another: a conversation of it that was opened longer ago than `after_ns`, and
/// every one while the group is closed, may go to agents of that other group as well, if that one is open. It
/// stays in its own group and at its place; agents of its own group come first. Overflow does not go on from
/// there to a third group.
/// * Eligible (see eligible()): in such a group, that is open, connected, own word online, load < min(token,
/// presence) capacity, and
///   the conversation not held from it. Load counts assigned and active conversations. A capacity lowered
///   below the load takes nothing away.
/// * A conversation that an agent declined, let time out or gave to a group is held from that agent for
/// `hold_ns`,
///   or until another agent was assigned it. It blocks nobody behind it.
/// * Offline, away and busy set by hand only stop new assignments: the agent keeps its conversations while it
/// is
///   connected. Its own word outlives its connections; never given, it is offline.
/// * From the end of its last connection an agent has `grace_ns` to come back. Meanwhile it keeps its
/// conversations
///   and gets no new ones (an accept time-out goes on running); then they are requeued with reason offline.
/// * Words about an assignment that is over (an old owner_epoch) are ignored.
///
/// Cost per event: O(log queue) for the queue, plus agents_max / 64 words and the group's assignable agents
/// per assignment, plus the conversations at the head of the queue that are held from the only agent who is
/// free. Nothing is swept: time-outs, holds and graces each stand in a list in order of their deadline.
///
/// Memory comes from the resource given: tables are reserved at their limits at construction, records grow in
/// chunks of at most 64 KiB and are reused.
class Dispatcher {
 public:
  static constexpr int64_t kNoDeadline = INT64_MAX;
  /// Whose agents may be given what waits in a group, and from when on.
  struct Overflow {
    GroupId to = kNoGroup;
    int64_t after_ns = kNoDeadline;  ///< kNoDeadline: only while the group is closed
  };

  struct Options {
    uint32_t groups = 1;  ///< <= kGroupsMax
    uint32_t agents_max = 4096;
    uint32_t conversations_max = 1 << 17;  ///< open at the same time
    int64_t accept_ns = 30'000'000'000;
    int64_t grace_ns = 30'000'000'000;
    int64_t hold_ns = 60'000'000'000;
    std::array<Overflow, kGroupsMax> overflow{};  ///< by group; `to` is another one, < groups
  };

  /// What an agent's token says.
  struct AgentFacts {
    GroupSet groups = 0;
    uint32_t capacity = 1;
  };

  /// presence(): the token's capacity alone counts.
  static constexpr uint32_t kTokenCapacity = UINT32_MAX;
  /// Positions up to here are kept current at every flush; beyond it see flush_positions().
  static constexpr uint32_t kNearPositions = 100;
  /// Farther positions looked at per group and flush.
  static constexpr uint32_t kFarPositionsPerFlush = 32;

  /// `memory` outlives the dispatcher and does not fail.
  Dispatcher(const Options& options, std::pmr::memory_resource& memory);
  Dispatcher(const Dispatcher&) = delete;
  Dispatcher& operator=(const Dispatcher&) = delete;
  ~Dispatcher();

  // -- Events. now_ns is monotonic; a value lower than an earlier one counts as that earlier one. --

  /// An agent's first connection, or a further one with a newer token or another endpoint. Where the endpoint
  /// has changed, an OwnerMoved goes to each conversation that the agent owns. False: agents_max are known
  /// already.
  [[nodiscard]] bool agent_connected(std::string_view id, AgentKey key, const AgentFacts& facts,
                                     int64_t now_ns);
  /// The end of the last connection of that endpoint; a word about an earlier endpoint is ignored.
  void agent_disconnected(std::string_view id, AgentKey key, int64_t now_ns);
  /// The agent's own word; ignored for an agent who was never connected.
  void agent_presence(std::string_view id, Presence status, uint32_t capacity, int64_t now_ns);

  /// A conversation was opened or reopened; `opening` and `owner_epoch` are the conversation's own. False:
  /// conversations_max are open. `preferred`: the agent whom the visitor knows. REQUIRES: group < groups; the
  /// key is not known (its close came first).
  [[nodiscard]] bool conversation_opened(ConversationKey key, GroupId group, uint32_t opening,
                                         uint32_t owner_epoch, int64_t now_ns, uint32_t preferred = kNoAgent);
  void accepted(ConversationKey key, uint32_t owner_epoch, int64_t now_ns);
  void declined(ConversationKey key, uint32_t owner_epoch, int64_t now_ns);
  void closed(ConversationKey key, int64_t now_ns);

  /// The group's working hours begin or end. At first all groups are open. REQUIRES: group < groups.
  void group_hours(GroupId group, bool open, int64_t now_ns);

  // -- What was known before a restart. Agents come back to their conversations as after a lost connection.
  // --

  /// A conversation that is open, as its shard knows it.
  struct Restored {
    ConversationKey conversation{};
    GroupId group = 0;
    /// Its place in the order of opening, over all shards: 1, 2, 3, …, each once. New ones come behind,
    /// whichever is heard of first.
    uint32_t number = 0;
    uint32_t opening = 0;
    uint32_t owner_epoch = 0;
    std::string_view owner;  ///< empty: it waits
    bool accepted = false;   ///< else its owner has `accept_ns` from now on
  };

  /// It takes its place in the queue, or counts as load of its owner, who has `grace_ns` to connect unless it
  /// has. An OwnerMoved tells where the owner is, now or when it connects. If agents_max are known already,
  /// it goes back to its queue as from an agent who does not come back. False: conversations_max are open.
  /// REQUIRES: group < groups; the key and the number are not known.
  [[nodiscard]] bool conversation_restored(const Restored& what, int64_t now_ns);
  /// The agent's last word; it is nowhere until it connects. False: agents_max are known already.
  [[nodiscard]] bool agent_restored(std::string_view id, Presence status, uint32_t capacity, int64_t now_ns);

  // -- Requests of agents: the answer is for who asked, what follows from it stands in effects() --

  /// The agent takes a conversation that waits, or that nobody has accepted yet, and has accepted it; one's
  /// own is `ok`. `closed`; `not_yours`: not of its groups; `taken`: accepted by another; `capacity`: full.
  /// Each `ok` brings one Assign that is `accepted`.
  /// Its own word (away, …) and holds do not matter: it asked.
  [[nodiscard]] Code take(ConversationKey key, std::string_view agent_id, int64_t now_ns);
  /// The owner of that assignment gives it to another agent, who is to accept it. `closed`; `not_yours`: the
  /// assignment is over; `unavailable`: offline or unknown; `forbidden`: the group is none of that agent's;
  /// `capacity`: full, or in its grace.
  [[nodiscard]] Code transfer_to_agent(ConversationKey key, uint32_t owner_epoch, std::string_view agent_id,
                                       int64_t now_ns);
  /// … to a group: it waits in that queue in the order of opening, and is held from the agent who gave it.
  /// REQUIRES: group < groups.
  [[nodiscard]] Code transfer_to_group(ConversationKey key, uint32_t owner_epoch, GroupId group,
                                       int64_t now_ns);

  // -- Time --

  /// Handles all that is due. Call at next_deadline_ns() (kNoDeadline: nothing will ever be due).
  void advance(int64_t now_ns);
  [[nodiscard]] int64_t next_deadline_ns() const;

  // -- Effects --

  [[nodiscard]] std::span<const Effect> effects() const;
  void clear_effects();
  /// Appends the Position of each queued conversation whose position is not the one last told, for groups
  /// whose queue has moved: all up to kNearPositions, and the next kFarPositionsPerFlush of the rest in turn,
  /// so that a far position may lag. Bounded work; call once at the end of a turn.
  /// The estimated wait is the median of the group's last waits (WaitHistory) times the position.
  void flush_positions();

  // -- Reading --

  /// The first rule by which `agent` may not get the conversation now; decides and explains.
  /// REQUIRES: agent_index < agents(), the conversation is known.
  [[nodiscard]] Exclusion eligible(uint32_t agent_index, ConversationKey key) const;
  [[nodiscard]] uint32_t agents() const;
  /// Stable for the life of the dispatcher. REQUIRES: agent_index < agents().
  [[nodiscard]] std::string_view agent_id(uint32_t agent_index) const;
  /// One line of a page; `number` orders conversations by opening.
  struct Listed {
    ConversationKey conversation;
    uint64_t number = 0;
  };
  struct ListPage {
    uint32_t count = 0;
    uint64_t next = 0;  ///< `after` of the next page; 0: that was all
  };
  /// Fills `out` with open conversations in the order of opening, those with numbers above `after`: what the
  /// agent owns, or what waits, or is open, in its groups. It looks at a bounded number, so a page may be
  /// short, or empty, though more follow. REQUIRES: !out.empty().
  [[nodiscard]] ListPage list(ListScope scope, std::string_view agent_id, uint64_t after,
                              std::span<Listed> out) const;
  /// How one agent stands to a conversation.
  struct Explained {
    uint32_t agent_index = 0;
    uint32_t load = 0;
    uint32_t capacity = 0;
    Presence presence = Presence::offline;  ///< effective
    Exclusion exclusion = Exclusion::none;  ///< as eligible() says
  };
  struct Explanation {
    ConversationState state = ConversationState::closed;  ///< closed: it is not known
    GroupId group = 0;
    uint32_t owner = kNoAgent;  ///< of one that does not wait
    uint32_t position = 0;      ///< in the queue, as last told; 0: not told yet
    uint32_t count = 0;
    uint32_t next = 0;  ///< `from` of the next page; 0: that was all
  };
  /// Why a conversation that waits is given to nobody: fills `out` with the agents of its group, and of that
  /// into which it overflows, with indices from `from` on. Only for one that waits there are agents. It looks
  /// at a bounded number, so a page may be short, or empty, though more follow. REQUIRES: !out.empty().
  [[nodiscard]] Explanation explain(ConversationKey key, uint32_t from, std::span<Explained> out) const;
  /// Assigned and active conversations of the agent; 0 for an unknown one.
  [[nodiscard]] uint32_t load(std::string_view id) const;
  /// Appends the key of each conversation that the agent owns.
  void owned(std::string_view id, std::pmr::vector<ConversationKey>& out) const;
  /// Its own word while a connection or its grace lives, else offline; unknown: offline.
  [[nodiscard]] Presence effective_presence(std::string_view id) const;
  [[nodiscard]] uint32_t queued(GroupId group) const;
  [[nodiscard]] uint32_t conversations() const;

 private:
  struct Impl;
  Impl* impl_;
};

}  // namespace taut::chat
