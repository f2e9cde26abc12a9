// One conversation as a pure state machine: order, repeats, ownership, history, resume.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "chat/conversation_image.h"
#include "chat/dedup_window.h"
#include "chat/item_log.h"
#include "chat/resume.h"
#include "chat/sender_windows.h"
#include "chat/types.h"

namespace taut::chat {

/// The answer to on_send(). code ok and !dup: encode the item and append it as `seq`.
struct SendDecision {
  Code code = Code::ok;
  bool dup = false;      ///< seen before: epoch, seq, ts_ms are those of the first time; nothing to append
  bool accepts = false;  ///< the send accepts: first append the event `accepted` as seq - 1, then the message
  bool contested = false;  ///< it would accept, but others want to take the conversation: see contest()
  uint32_t epoch = 0;
  uint64_t seq = 0;
  int64_t ts_ms = 0;  ///< only for dup
};

/// An owner: who, at which endpoint, by which assignment.
struct Owner {
  AgentKey key{};  ///< zero: nowhere yet, after a restart until it connects
  InlineId id{};   ///< empty: nobody
  uint32_t owner_epoch = 0;

  [[nodiscard]] explicit operator bool() const { return !id.empty(); }
};

/// What a request or a decision did. `changed`: the state has moved on; encode `event` as (epoch, seq) and
/// call append_event() before anything else is asked of the conversation. Then tell `lost` (`unassigned`,
/// with lost_reason) and, when `gained`, the new owner (`assigned`: Conversation::owner()).
struct Change {
  Code code = Code::ok;
  bool changed = false;  ///< false with code ok: it already was so, or the decision was stale; nothing to do
  bool gained = false;
  bool contested = false;  ///< unchanged, the dispatcher is to decide: see contest()
  EventKind event = EventKind::opened;
  Reason reason = Reason::closed;       ///< of `requeued`
  Reason lost_reason = Reason::closed;  ///< of `unassigned`
  uint32_t epoch = 0;
  uint64_t seq = 0;
  uint32_t owner_epoch = 0;  ///< for the event
  Owner lost{};              ///< nobody: nobody loses it
};

/// A message as it was appended once.
struct RestoredMessage {
  uint32_t epoch = 0;
  uint64_t seq = 0;
  int64_t ts_ms = 0;
  PartyKind sender = PartyKind::visitor;
  std::string_view sender_id;
  IdHash id;
  uint64_t body_hash = 0;
  ItemKind kind = ItemKind::text;
};

/// An event as it was appended once.
struct RestoredEvent {
  uint32_t epoch = 0;
  uint64_t seq = 0;
  int64_t ts_ms = 0;
  EventKind event = EventKind::opened;
  std::string_view agent;    ///< assigned, accepted: whose it is; transferred: empty where a group got it
  GroupId group = kNoGroup;  ///< requeued, and transferred to a group: that group
  uint32_t owner_epoch = 0;
};

/// Items from … to (both included; from > to: none), ascending.
struct Page {
  uint64_t from = 1;
  uint64_t to = 0;
  bool more = false;     ///< older ones are in memory
  bool evicted = false;  ///< older ones have been, but are no longer in memory (`more` is false then)
};

enum class Side : uint8_t { visitor, agent };
enum class ReceiptLevel : uint8_t { delivered, read };
/// moved: tell the other side. `beyond_end` is the client's `bad_field`.
enum class MarkResult : uint8_t { moved, unchanged, beyond_end };

/// Lives on its visitor's home shard; one thread. It decides order, dedup, close and who may send; ownership
/// is decided by the dispatcher and only carried out here. Bodies are the caller's blocks: it holds them for
/// the log and hands each one back exactly once, from append_…() or release_items().
///
/// No clock, no I/O, no allocation in steady state: memory grows with the conversation, in steps of at most
/// 64 KiB, from the resource given, and stops growing at `items_max` items and kIds remembered ids per
/// sender.
class Conversation {
 public:
  struct Options {
    uint32_t items_max = 2048;  ///< kept in memory for history and resume; <= ItemLog::kItemsMax
  };

  /// Not open yet: call open() next. `memory` outlives the conversation and does not fail.
  /// REQUIRES: valid_id(id), group < kGroupsMax.
  Conversation(std::string_view id, GroupId group, const Options& options, std::pmr::memory_resource& memory);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;
  /// REQUIRES: release_items() was called, or nothing was ever appended.
  ~Conversation();

  // -- What it is --

  [[nodiscard]] std::string_view id() const { return id_.view(); }
  [[nodiscard]] GroupId group() const { return group_; }
  [[nodiscard]] ConversationState state() const { return state_; }
  /// How often it was opened; goes with Dispatcher::conversation_opened().
  [[nodiscard]] uint32_t opening() const { return opening_; }
  /// The last decision carried out (an Assign or a Requeue); goes with every word to the dispatcher.
  [[nodiscard]] uint32_t owner_epoch() const { return owner_epoch_; }
  /// Nobody in the states queued and closed.
  [[nodiscard]] const Owner& owner() const { return owner_; }
  [[nodiscard]] bool owned_by(std::string_view agent_id) const { return owner_ && owner_.id == agent_id; }
  [[nodiscard]] uint32_t epoch() const { return ends_.back().epoch; }
  [[nodiscard]] uint64_t last_seq() const { return log_.last_seq(); }
  [[nodiscard]] const ItemLog& items() const { return log_; }

  // -- Messages --

  /// A hint, some tens of nanoseconds ahead of on_send(): the id is about to be looked for.
  void expect_send(const Party& sender, IdHash id);

  /// Decides a send; changes nothing. Checked in this order: a repeat is answered as the first time (even
  /// when the conversation is closed or belongs to somebody else by now), an id with another body is
  /// id_conflict, then closed, then not_yours. Visitors may send texts (a note is `forbidden`), owners
  /// everything, other agents of the group notes; bot and system everything. A send (text or note) by the
  /// agent to whom the conversation is assigned accepts it: the event `accepted` takes the next seq and the
  /// message the one after.
  [[nodiscard]] SendDecision on_send(const Party& sender, IdHash id, uint64_t body_hash, ItemKind kind);

  /// Appends what the last on_send() allowed, remembers its id, and takes over the caller's reference to
  /// `body`. Answers a body to be released, or nullptr. REQUIRES: on_send() said ok and not dup, nothing
  /// happened since, and, if it said `accepts`, append_event() came first.
  [[nodiscard]] void* append_message(void* body, int64_t ts_ms);

  /// Appends the event of the last Change, or the `accepted` of the last on_send(). As append_message().
  [[nodiscard]] void* append_event(void* body, int64_t ts_ms);

  /// Forgets the oldest item before its time, where memory is short. Answers its body to be released, or
  /// nullptr when only the latest is left.
  [[nodiscard]] void* drop_oldest_item() { return log_.drop_oldest(); }

  // -- Requests by a party --

  /// Event `opened`, seq 1. Tell the dispatcher (conversation_opened). REQUIRES: new.
  [[nodiscard]] Change open();
  /// Event `reopened`, queued again, at the end of the queue. Tell the dispatcher (conversation_opened).
  /// Not closed: ok, unchanged.
  [[nodiscard]] Change reopen();
  /// Event `accepted`. Tell the dispatcher (accepted). Already accepted by the same: ok, unchanged. `closed`;
  /// `taken` when another agent has accepted it; else `not_yours`.
  [[nodiscard]] Change accept(const Party& agent);
  /// Somebody asks the dispatcher for it (take). Until each such question is decided, by contest_lost() or by
  /// an Assign that is `accepted`, nobody accepts here: accept() and on_send() of the owner say `contested`,
  /// and the owner has to ask as well. So of all who want it one gets it.
  void contest() { ++contests_; }
  void contest_lost() { --contests_; }
  /// No event yet: tell the dispatcher (declined), whose Requeue brings it. Until then the agent who declined
  /// is no longer listened to (`not_yours`). `closed`, `not_yours`; `taken` when it was accepted before.
  [[nodiscard]] Code decline(const Party& agent);
  /// Whether the agent owns it, by the assignment that it acts on: may give it away, type, say what it has
  /// read. `closed`, `not_yours`.
  [[nodiscard]] Code may_act(const Party& agent) const;
  /// Event `closed`. Tell the dispatcher (closed). Visitors, bots and system always; agents only their own,
  /// else `not_yours`. `closed` when it is already.
  [[nodiscard]] Change close(const Party& by);

  /// Event `rated`, by its visitor, once it is closed, and once for each opening: a second rating is ok and
  /// changes nothing, for it may be the first one told again. Still open: `forbidden`.
  [[nodiscard]] Change rate();
  [[nodiscard]] bool rated() const { return rated_opening_ == opening_; }

  // -- Decisions of the dispatcher --

  /// Event `assigned`, or `transferred` when it had an owner who loses it by transfer. Closed, another
  /// opening or an owner_epoch not above our own: stale, unchanged. REQUIRES: agent_id is that of
  /// decision.agent_index. An `accepted` one: apply_accept() comes next.
  [[nodiscard]] Change apply(const Assign& decision, std::string_view agent_id);
  /// Event `accepted`, unless it is stale or accepted already. REQUIRES: decision.accepted.
  [[nodiscard]] Change apply_accept(const Assign& decision);
  /// Event `requeued`, or `transferred` when its owner gave it to a group. Stale as above.
  [[nodiscard]] Change apply(const Requeue& decision);
  /// No event; true when the owner's endpoint is another now (then send `assigned` to it).
  [[nodiscard]] bool apply(const OwnerMoved& decision);

  // -- Reading --

  [[nodiscard]] ResumePlan plan_resume(uint32_t epoch, uint64_t seq) const;
  /// Up to `limit` items (at most kPageItemsMax) below `before`, the latest ones; before 0: from the end.
  [[nodiscard]] Page history(uint64_t before, uint32_t limit) const;

  // -- Receipts: high-water marks, one per side and level --

  [[nodiscard]] MarkResult mark(Side side, ReceiptLevel level, uint64_t seq);
  [[nodiscard]] uint64_t mark_of(Side side, ReceiptLevel level) const;

  // -- Restoring (conversation_restore.cc). Fed in order with what was appended and with the epochs that
  // began, a new conversation becomes what the one was to which it happened: state, owner, marks, ends of
  // epochs, and the ids that it knows. What was under way is forgotten: contests, a decline that the
  // dispatcher had not answered. Errors say what does not follow; nothing has changed then. Marks are set by
  // mark(). --

  /// Takes over `body` and answers one to be released, or nullptr, as append_message().
  [[nodiscard]] Result<void*> restore_message(const RestoredMessage& message, void* body);
  /// As append_event(). The owner has no endpoint until an OwnerMoved names it.
  [[nodiscard]] Result<void*> restore_event(const RestoredEvent& event, void* body);

  /// After a stop that was not clean: the next item starts epoch + 1 and goes on with the sequence. Each call
  /// takes a number of its own, whether or not an item came since the last one.
  void start_epoch();

  /// Becomes what `other` is, out of this one's memory. body_of(item) answers the body for each item that
  /// `other` keeps, oldest first. REQUIRES: the id of the other, at least its items_max, nothing happened.
  template <class BodyOf>
  void copy(const Conversation& other, BodyOf&& body_of) {
    copy_state(other);
    for (uint64_t seq = other.log_.first_seq(); seq <= other.last_seq(); ++seq) {
      Item item = other.log_.at(seq);
      item.body = body_of(std::as_const(item));
      void* const evicted = log_.push(item);
      TAUT_ASSERT(evicted == nullptr);
    }
  }

  // -- Snapshots (conversation_image.cc): a new conversation becomes what the imaged one was by
  // restore_image(), then remember() for the messages that are known and no longer kept, sender by sender
  // in the image's order, then keep_message() and keep_event() for all that are. Errors say what does not
  // follow; nothing has changed then. --

  [[nodiscard]] ConversationImage image() const;
  /// Calls visit(sender, entry) for each message that is known and no longer kept, in the order of
  /// remember().
  template <class Visit>
  void for_each_remembered(Visit&& visit) const {
    windows_.for_each([&](PartyKind kind, std::string_view id, const DedupWindow& window) {
      for (uint32_t i = 0; i < window.size() && window.entry(i).seq < log_.first_seq(); ++i)
        visit(RememberedSender{.kind = kind, .id = id}, window.entry(i));
    });
  }

  /// REQUIRES: nothing has happened yet.
  [[nodiscard]] Status restore_image(const ConversationImage& image);
  [[nodiscard]] Status remember(PartyKind kind, std::string_view sender, const DedupWindow::Entry& entry);
  /// As restore_message(), for an item of the image; `known`: it is told from repeats.
  [[nodiscard]] Result<void*> keep_message(const RestoredMessage& message, bool known, void* body);
  /// As restore_event(), for an item of the image: it changes nothing any more.
  [[nodiscard]] Result<void*> keep_event(const RestoredEvent& event, void* body);

  // -- Life cycle --

  /// No message is told from a repeat any more, for one that was closed long ago.
  void forget_senders() { windows_.forget(); }
  /// Hands every body to `release` and forgets the items, for a conversation that leaves memory.
  template <class Release>
  void release_items(Release&& release) {
    log_.release_all(release);
  }

 private:
  /// A decided send that has not been appended yet.
  struct PendingSend {
    bool due = false;
    bool accepts = false;
    PartyKind sender = PartyKind::visitor;
    InlineId sender_id;
    IdHash id;
    uint64_t body_hash = 0;
    ItemKind kind = ItemKind::text;
  };

  /// An event with what it says of the state.
  struct Step {
    EventKind event = EventKind::opened;
    Owner owner{};             ///< assigned, or transferred to an agent: the new one
    GroupId group = kNoGroup;  ///< requeued, or transferred to a group: where it waits
    uint32_t owner_epoch = 0;  ///< of these
  };

  [[nodiscard]] bool acts_as_owner(const Party& party) const;
  [[nodiscard]] Code may_send(const Party& sender, ItemKind kind) const;
  /// What the event makes of the state, live and restored. Answers who lost it.
  Owner enter(const Step& step);
  [[nodiscard]] Change change_by(const Step& step);
  [[nodiscard]] Owner take_owner();
  /// What is wrong with an event that is to be restored; empty: nothing.
  [[nodiscard]] std::string_view fault_of(const RestoredEvent& event) const;
  [[nodiscard]] Status follows(uint32_t epoch, uint64_t seq) const;
  [[nodiscard]] Status follows_in_image(uint32_t epoch, uint64_t seq) const;
  void copy_state(const Conversation& other);
  [[nodiscard]] bool stale(uint32_t opening, uint32_t owner_epoch) const;
  [[nodiscard]] void* push(const Item& item);

  InlineId id_;
  GroupId group_;
  ConversationState state_ = ConversationState::queued;
  uint32_t contests_ = 0;
  bool declined_ = false;  ///< the owner has declined; the Requeue is on its way
  uint32_t opening_ = 0;
  uint32_t rated_opening_ = 0;  ///< the last one that was rated
  uint32_t owner_epoch_ = 0;
  Owner owner_;
  std::optional<EventKind> event_due_;
  PendingSend pending_;
  std::array<std::array<uint64_t, 2>, 2> marks_{};  ///< by side and level
  std::pmr::vector<EpochEnd> ends_;
  ItemLog log_;
  SenderWindows windows_;
};

}  // namespace taut::chat
