// Whether conversations leave their queues in the order in which they came, as far as it is known from
// outside.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "sim/oracle.h"
#include "sim/reader.h"

namespace taut::sim {

/// Which of two conversations was opened first, and what waited when another one was assigned, nobody outside
/// can say at any moment. At rest it is known: what was there at one rest is older than what was opened
/// behind it, and what waits at two rests with nothing in between has waited all that time. So an assignment
/// between them is judged at the second one. Over a crash only the order is, for an assignment that it undid
/// may have been the reason of another one.
///
/// What an agent is told of says little of its load: its own shard keeps back what is too much. So before
/// the first crash, which may leave too much, loads are counted in the conversations. One thread.
class Queues {
 public:
  struct Event {
    std::string_view conversation;
    uint64_t epoch = 0;
    uint64_t seq = 0;
    std::string_view name;   ///< as in the protocol
    std::string_view group;  ///< empty: it does not say
    std::string_view agent;
    std::string_view opener;  ///< the visitor, if it is the answer to an `open` of a new one
  };

  /// It outlives this.
  explicit Queues(Oracle& oracle) : oracle_(oracle) {}

  void employs(const std::string& agent, uint32_t capacity) { capacities_[agent] = capacity; }
  /// Somebody was told of it.
  void told(const Event& event);
  /// The link went before the answer to an `open` came, which may have opened something.
  void unanswered(std::string_view opener, std::string_view group);
  /// Items of it left memory before they were told.
  void incomplete(std::string_view conversation);
  /// The agent asks for it, and need not wait for its turn.
  void asks_for(std::string_view conversation, std::string_view agent);
  void ended(bool clean) {
    undisturbed_ = undisturbed_ && clean;
    crashed_ = crashed_ || !clean;
  }

  /// At rest, its visitor has been told all of it. `position`: as last told; 0: it was not.
  void known(std::string_view conversation, const Reader& reader, uint64_t position);
  /// Behind known() of all.
  void at_rest();

 private:
  /// What puts a conversation into a queue, or takes it out.
  struct Move {
    uint64_t epoch = 0;
    bool opens = false;
    bool waits = false;     ///< from here on
    bool assigned = false;  ///< by the dispatcher or to who asked
    bool owned = false;     ///< by `agent`, from here on
    std::string group;      ///< of the queue, empty: as before
    std::string agent;
    uint64_t rest = 0;  ///< behind which it was told first
  };
  struct Conversation {
    std::map<uint64_t, Move> moves;   ///< by sequence number
    std::set<std::string> asked_for;  ///< by these agents, since the last rest
    bool incomplete = false;
    uint64_t known_at = 0;      ///< the last rest at which all was known
    uint64_t known_before = 0;  ///< the one before that
    uint64_t position = 0;
    uint64_t opening = 0;       ///< sequence number of the last one
    uint64_t opened_after = 0;  ///< this rest; 0: nobody knows
    uint64_t opened_before = 0;
  };

  [[nodiscard]] static bool waits(const Conversation& c) {
    return !c.moves.empty() && c.moves.rbegin()->second.waits;
  }
  [[nodiscard]] static std::string_view group_at(const Conversation& c, uint64_t seq);
  [[nodiscard]] bool surely_older(const Conversation& one, const Conversation& other) const {
    return one.opened_before != 0 && one.opened_before <= other.opened_after;
  }
  void judge_positions(const std::string& id, const Conversation& c);
  void judge_assignments(const std::string& id, const Conversation& c);
  void judge_loads();

  Oracle& oracle_;
  std::map<std::string, Conversation, std::less<>> conversations_;
  std::set<std::pair<std::string, std::string>> unanswered_;  ///< visitor, group
  uint64_t rests_ = 0;
  std::map<std::string, uint32_t> capacities_;
  bool undisturbed_ = true;  ///< no crash since the last rest
  bool crashed_ = false;     ///< ever
};

}  // namespace taut::sim
