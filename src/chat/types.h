// The vocabulary of chat: states, parties, events, reasons, answers, and the dispatcher's decisions.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/assert.h"
#include "base/handle.h"
#include "base/identity.h"

namespace taut::chat {

/// A conversation on its visitor's home shard.
using ConversationKey = Handle;
/// An agent's endpoint on its home shard. It changes when the endpoint is made anew; the agent's id does not.
using AgentKey = Handle;
/// Place of a group in the configuration, from 0.
using GroupId = uint32_t;

inline constexpr GroupId kNoGroup = UINT32_MAX;

/// Groups of one process; a set of groups is one word (see GroupSet).
inline constexpr uint32_t kGroupsMax = 64;
/// Bit g stands for group g.
using GroupSet = uint64_t;
[[nodiscard]] constexpr GroupSet group_bit(GroupId group) {
  return GroupSet{1} << group;
}

/// Agents are numbered as the dispatcher gets to know them.
inline constexpr uint32_t kNoAgent = UINT32_MAX;

/// Longest history or resume page, in items.
inline constexpr uint32_t kPageItemsMax = 200;

enum class ConversationState : uint8_t { queued, assigned, active, closed };
enum class PartyKind : uint8_t { visitor, agent, bot, system };
/// What an item is. `note` reaches agents only; a visitor is shown `note_hidden` in its place.
enum class ItemKind : uint8_t { text, note, event };
enum class EventKind : uint8_t {
  opened,
  assigned,
  accepted,
  transferred,
  requeued,
  closed,
  reopened,
  note_hidden,
  rated,
};
/// Why an owner lost a conversation.
enum class Reason : uint8_t { transferred, timeout, declined, taken, offline, closed };
/// What an agent wants to see of the open conversations.
enum class ListScope : uint8_t { mine, queued, all };
/// An agent's own word about itself.
enum class Presence : uint8_t { online, busy, away, offline };
/// The answer to a request; all but `ok` are error codes of the protocol. `unavailable` is the `capacity` of
/// an agent who is not there: asking again does not help.
enum class Code : uint8_t { ok, closed, not_yours, taken, id_conflict, forbidden, capacity, unavailable };

/// The names that the protocol writes.
[[nodiscard]] std::string_view name(ConversationState state);
[[nodiscard]] std::string_view name(PartyKind kind);
[[nodiscard]] std::string_view name(ItemKind kind);
[[nodiscard]] std::string_view name(EventKind kind);
[[nodiscard]] std::string_view name(Reason reason);
[[nodiscard]] std::string_view name(Presence presence);
[[nodiscard]] std::string_view name(Code code);

/// An id held in place, so that state machines keep ids without a heap and without a view.
class InlineId {
 public:
  InlineId() = default;
  /// REQUIRES: text.size() <= kIdBytesMax.
  explicit InlineId(std::string_view text) : size_(static_cast<uint8_t>(text.size())) {
    TAUT_ASSERT(text.size() <= kIdBytesMax);
    std::copy(text.begin(), text.end(), bytes_.begin());
  }
  [[nodiscard]] std::string_view view() const { return {bytes_.data(), size_}; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  friend bool operator==(const InlineId& a, std::string_view b) { return a.view() == b; }

 private:
  std::array<char, kIdBytesMax> bytes_{};
  uint8_t size_ = 0;
};

/// Who asks something of a conversation. A parameter, never kept: the conversation copies what it needs.
struct Party {
  PartyKind kind = PartyKind::visitor;
  std::string_view id;
  /// Agents: their token names the conversation's group (then they may send notes without owning it).
  bool in_group = false;
  /// Agents: the assignment that they act on; 0 when their shard does not know one. A number other than that
  /// of the current assignment makes the request `not_yours`, even for the same agent.
  uint32_t owner_epoch = 0;
};

// -- The dispatcher's decisions, in the order in which it took them. Plain values that fit into one mail.
//
// owner_epoch: each Assign and each Requeue of a conversation takes the next number, 1, 2, 3, …; a
// conversation ignores a decision whose number is not above its own. opening: how often the conversation had
// been opened (1, then + 1 at each reopening) when the dispatcher heard of it; a decision about an earlier
// opening that is still on its way when the conversation has been closed and opened again is ignored.

/// The conversation now belongs to that agent, who has accept_ms to accept, or has accepted by taking it.
/// `reason` is what an earlier owner is told, if there was one: transferred or taken. The same owner_epoch
/// again, accepted: the owner took what it had been offered.
struct Assign {
  ConversationKey conversation{};
  AgentKey agent{};
  uint32_t agent_index = 0;  ///< Dispatcher::agent_id() gives the id
  uint32_t opening = 0;
  uint32_t owner_epoch = 0;
  uint32_t accept_ms = 0;
  Reason reason = Reason::transferred;
  bool accepted = false;
};

/// The conversation belongs to nobody and waits in the queue of `group` in the order of opening;
/// `transferred`: its owner gave it to that group.
struct Requeue {
  ConversationKey conversation{};
  GroupId group = 0;
  uint32_t opening = 0;
  uint32_t owner_epoch = 0;
  Reason reason = Reason::timeout;
};

/// The owner is the same agent at a new endpoint: no event, but pushes go there from now on, and the new
/// endpoint needs an `assigned`. owner_epoch is that of the assignment, which goes on.
struct OwnerMoved {
  ConversationKey conversation{};
  AgentKey agent{};
  uint32_t opening = 0;
  uint32_t owner_epoch = 0;
};

/// The visitor's place in the queue, 1 = next. For display only; not a decision.
struct Position {
  ConversationKey conversation{};
  uint32_t opening = 0;
  uint32_t position = 0;
  bool has_eta = false;
  uint64_t eta_ms = 0;  ///< how long it will probably wait
};

using Effect = std::variant<Assign, Requeue, OwnerMoved, Position>;
static_assert(std::is_trivially_copyable_v<Effect>);
static_assert(sizeof(Effect) <= 56, "an effect fits into one mail");

}  // namespace taut::chat
