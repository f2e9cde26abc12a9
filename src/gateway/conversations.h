// The conversations that live on one shard: requests and decisions in, items and deliveries out.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/unordered_set_hook.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/slot_map.h"
#include "chat/conversation.h"
#include "chat/last_agents.h"
#include "core/shard.h"
#include "gateway/blocked_visitors.h"
#include "gateway/conversation_request.h"
#include "gateway/durable_courier.h"
#include "gateway/gateway_metrics.h"
#include "gateway/group_rules.h"
#include "gateway/journal_feed.h"
#include "gateway/listing.h"
#include "gateway/mails.h"
#include "gateway/older_pages.h"
#include "gateway/resume_pager.h"
#include "gateway/signals.h"

namespace taut::gateway {

class ConversationIndex;
class RecoveredConversation;
struct RecoveredShard;

/// Somebody who gets `opened`.
struct Opener {
  Handle connection;
  uint32_t ref = 0;
};

/// A conversation with what the state machine does not need to know.
struct ConversationRecord {
  ConversationRecord(Handle handle, std::string_view id, chat::GroupId group,
                     const chat::Conversation::Options& options, std::pmr::memory_resource& memory)
      : self(handle), machine(id, group, options, memory) {}

  [[nodiscard]] chat::Party party(const Requester& from) const {
    return {.kind = from.kind,
            .id = from.id,
            .in_group = (from.groups & chat::group_bit(machine.group())) != 0,
            .owner_epoch = from.owner_epoch};
  }

  Handle self;
  chat::Conversation machine;
  Handle visitor;  ///< its endpoint; may have gone
  std::string visitor_id;
  std::string visitor_name;
  std::string attributes;  ///< raw JSON object or empty
  std::string subject;
  chat::Position position;          ///< in the queue, as last told; 0: not told
  uint32_t agent = chat::kNoAgent;  ///< to whom it is, or was when it was closed
  /// Opens that wait for the dispatcher's first word, so that `opened` can tell the place in the queue.
  std::vector<Opener> openers;
  SignalState signals;
  uint64_t journaled_seq = 0;     ///< the last item given to the journal
  uint64_t journaled_number = 0;  ///< the last record about it, as JournalFeed numbers them
  bool behind = false;            ///< what follows in the journal waits until the disk takes it
  boost::intrusive::list_member_hook<> closed_hook;
  boost::intrusive::unordered_set_member_hook<> visitor_hook;
};

/// What a visitor asks when it opens one.
struct OpenRequest {
  Requester from;
  uint32_t partition = 0;
  std::string_view group;
  std::string_view conversation;  ///< to reopen
  std::string_view subject;
  std::string_view attributes;
};

/// Owner thread only. Implements the protocol's "Sequence, epoch, resume" and "Sends" around
/// chat::Conversation.
class Conversations final : public PageListener {
 public:
  struct Options {
    std::vector<std::string> groups;
    uint32_t conversations_max = 0;  ///< on this shard; the oldest closed one makes room
    uint32_t history_items = 0;
    uint32_t accept_ms = 0;
    size_t pool_bytes_max = 0;
    int64_t process_start_ms = 0;
    uint64_t hash_seed = 0;  ///< of the ids and texts that are remembered
    ShardId dispatcher = 0;
    ShardId archive = kNobody;  ///< kNobody: what has left memory is gone
    uint32_t shards = 1;        ///< chat shards
    const GroupRules& rules;    ///< outlives them
  };

  Conversations(Shard& shard, hub::BlockReturn& back, DurableCourier& courier, JournalFeed& feed,
                hub::Directory& directory, Tracer& tracer, GatewayMetrics& metrics, const Options& options);
  Conversations(const Conversations&) = delete;
  Conversations& operator=(const Conversations&) = delete;
  ~Conversations() override;

  // -- requests --

  void open(const OpenRequest& request);
  /// Everything but open.
  void handle(const ConversationRequest& request);

  /// The visitor's grace has passed: what still waits in a queue is closed, what an agent has stays with the
  /// agent.
  void visitor_left(const hub::Endpoint& visitor);

  /// Ends what the visitor has open and all its connections, and lets none in for so long; 0: lets it in
  /// again.
  void block_visitor(std::string_view id, uint32_t seconds);
  [[nodiscard]] bool is_blocked(std::string_view visitor) {
    return blocked_.blocks(visitor, shard_.now_ns());
  }

  /// Ends what the visitor has open and lets go of all the visitor's conversations; `mail`, a ForgetOrder
  /// (gateway/forgetting.h), goes back when that is durable, or at once if the disk takes nothing now.
  void forget_visitor(std::string_view id, const InquiryMail& mail);
  /// Answers those who wait for that: the server ends.
  void stop();

  // -- the start --

  /// What was before; first of all.
  void restore(RecoveredShard&& recovered);
  /// The endpoint of somebody who owned one of them.
  void owner_found(const chat::OwnerMoved& found);
  /// Nobody may come in before: who comes back is to find what was theirs.
  [[nodiscard]] bool restored() const { return owners_sought_ == 0; }

  // -- from the dispatcher --

  void agent_named(uint32_t index, std::string_view id);
  void decide(const chat::Effect& effect);
  /// The dispatcher's answer to a take or a transfer; comes before its decisions.
  void answer(const Verdict& verdict);

  // -- the journal --

  void on_durable(const DurableMail& durable);
  /// The high-water marks have moved.
  void journal_receipts(ConversationRecord& record);

  // -- missed items --

  void on_page_taken(const PageTaken& taken) override { pager_.on_page_taken(taken); }
  [[nodiscard]] bool has_work() const { return pager_.has_work() || may_catch_up(); }
  void continue_work() {
    pager_.continue_work();
    if (may_catch_up()) catch_up();
  }
  /// Once per turn: what is told once however often it was said.
  void end_turn() { signals_.flush(); }
  [[nodiscard]] Signals& signals() { return signals_; }
  [[nodiscard]] Listings& listings() { return listings_; }
  [[nodiscard]] OlderPages& older_pages() { return older_; }
  /// What a list says of it; a view.
  [[nodiscard]] wire::ListEntry list_entry(const ConversationRecord& record) const;

  [[nodiscard]] ConversationRecord* find(Handle key) { return records_.find(key); }
  [[nodiscard]] ConversationRecord* find(std::string_view id);

 private:
  using ClosedList = boost::intrusive::list<
      ConversationRecord,
      boost::intrusive::member_hook<ConversationRecord, boost::intrusive::list_member_hook<>,
                                    &ConversationRecord::closed_hook>>;

  /// The record that the requester may know of; answers the error otherwise.
  [[nodiscard]] ConversationRecord* find_for(const ConversationRequest& request);

  // open
  void answer_or_wait(const OpenRequest& request, ConversationRecord& record);
  [[nodiscard]] ConversationRecord* open_one(const hub::Endpoint& visitor, chat::GroupId group);
  [[nodiscard]] ConversationRecord* create(const OpenRequest& request, chat::GroupId group);
  void answer_opened(const Opener& opener, const ConversationRecord& record);
  void answer_openers(ConversationRecord& record);
  void reopen(const OpenRequest& request, hub::Endpoint& visitor);
  [[nodiscard]] bool make_room();
  bool forget_oldest_closed();
  void forget(ConversationRecord& record);

  // forgotten visitors (gateway/forgetting.cc)
  /// Who asked, and the record that must be durable before the answer.
  struct Forgetting {
    uint64_t number = 0;
    InquiryMail mail;
  };
  void answer_forgotten(bool all);

  // the start (gateway/conversations_restore.cc)
  ConversationRecord& restore(const RecoveredConversation& from);
  void await_visitor(ConversationRecord& record);
  void look_for_owner(const ConversationRecord& record);
  void tell_dispatcher_restored(const ConversationRecord& record, uint32_t number);
  void index_by_id(ConversationRecord& record);

  // requests on one
  void send(const ConversationRequest& request);
  [[nodiscard]] chat::SendDecision decide_send(const ConversationRequest& request,
                                               ConversationRecord& record);
  [[nodiscard]] Block* make_message(const ConversationRequest& request, const wire::Ack& ack);
  void accept_send(const ConversationRequest& request, ConversationRecord& record,
                   const chat::SendDecision& decision, const wire::Ack& ack, Block* message);
  void answer_durable(const ConversationRequest& request, const ConversationRecord& record, wire::Ack ack);
  void accept(const ConversationRequest& request);
  void decline(const ConversationRequest& request);
  void take(const ConversationRequest& request);
  void transfer(const ConversationRequest& request);
  void ask_for(const Requester& agent, ConversationRecord& record);
  [[nodiscard]] bool ask_dispatcher(MailKind kind, const Requester& from, const ConversationRecord& record,
                                    std::string_view agent, chat::GroupId group);
  void finish_accept(const ConversationRequest& request, ConversationRecord& record,
                     const chat::Change& change);
  void close(const ConversationRequest& request);
  void finish_close(ConversationRecord& record, const chat::Change& change, std::string_view agent,
                    std::string_view reason, const Requester* asked_by);
  void block(const ConversationRequest& request);
  void close_all_of(const hub::Endpoint& visitor, std::string_view reason, bool queued_only);
  void history(const ConversationRequest& request);
  void rate(const ConversationRequest& request);
  [[nodiscard]] Block* append_rating(ConversationRecord& record, const ConversationRequest& request);
  void signal(const ConversationRequest& request);
  void attach(const ConversationRequest& request);
  void attach_agent(const ConversationRequest& request, ConversationRecord& record);
  void resume(const ConversationRequest& request, ConversationRecord& record);

  // decisions
  void decide(const chat::Assign& decision);
  void accept_taken(ConversationRecord& record, const chat::Assign& decision, bool gained);
  void decide(const chat::Requeue& decision);
  void decide(const chat::OwnerMoved& decision);
  void decide(const chat::Position& position);

  // items and who hears of them
  Block* append(ConversationRecord& record, const chat::Change& change);
  Block* append_event(ConversationRecord& record, const wire::Event& event);
  void push_event(ConversationRecord& record, Block* item, Handle except);
  void push_to_visitor(ConversationRecord& record, Block* item, Handle except);
  void push_to_owner(ConversationRecord& record, Block* item, Handle except);
  void stamp_message(Block& item, uint64_t seq, const chat::Owner& owner);
  void push_message(ConversationRecord& record, Block* item, chat::ItemKind kind, uint64_t seq,
                    const Requester& from);
  void release(void* evicted);
  void give(Handle endpoint, Handle except, const ConversationRecord& record, Block* item, Lane lane);
  void tell_assigned(const ConversationRecord& record, Handle endpoint, Handle connection, Lane lane);
  void tell_unassigned(const ConversationRecord& record, const chat::Owner& lost, chat::Reason reason);
  void tell_dispatcher(MailKind kind, const ConversationRecord& record);

  // the journal (gateway/conversation_journal.cc)
  void journal_creation(ConversationRecord& record);
  void journal_event(ConversationRecord& record, Block& item);
  void journal_item(ConversationRecord& record, Block& item);
  [[nodiscard]] bool may_catch_up() const { return !behind_.empty() && !feed_.refuses(); }
  void catch_up();
  void catch_up(ConversationRecord& record);
  void fall_behind(ConversationRecord& record);
  void require_whole(const ConversationRecord& record) const;
  /// All of it that there is, where there is a journal.
  [[nodiscard]] bool is_durable(const ConversationRecord& record) const {
    return !feed_.on() || (!record.behind && feed_.is_durable(record.journaled_number));
  }
  void journal_block(std::string_view visitor, uint32_t seconds);
  void write_receipts(ConversationRecord& record);
  /// Answers `storage` where nothing more may be changed.
  [[nodiscard]] bool refused_by_storage(const Requester& from, std::string_view conversation,
                                        Lane lane = Lane::answer);

  void refuse(const Requester& from, std::string_view conversation, wire::ErrorCode code,
              std::string_view message, Lane lane = Lane::answer);
  void refuse(const Requester& from, std::string_view conversation, chat::Code code,
              Lane lane = Lane::answer);
  /// `error` but for its ref, which is the request's.
  void refuse(const Requester& from, wire::ErrorMessage error, Lane lane);
  [[nodiscard]] bool short_of_memory();
  [[nodiscard]] bool pool_is_full() const;
  [[nodiscard]] int64_t wall_ms();
  [[nodiscard]] uint64_t hash_of_visitor(const ConversationRecord& record) const;

  Shard& shard_;
  hub::BlockReturn& back_;
  DurableCourier& courier_;
  JournalFeed& feed_;
  hub::Directory& directory_;
  Tracer& tracer_;
  GatewayMetrics& metrics_;
  Options options_;
  PoolResource memory_;
  SlotMap<ConversationRecord> records_;
  std::unique_ptr<ConversationIndex> index_;
  ClosedList closed_;  ///< the longest closed first
  std::vector<chat::InlineId> agents_;
  /// Agents whom restored conversations name and the dispatcher has not named yet.
  std::multimap<std::string, Handle, std::less<>> unnamed_agents_;
  chat::LastAgents last_agents_;
  BlockedVisitors blocked_;
  Signals signals_;
  Listings listings_;
  OlderPages older_;
  ResumePager pager_;
  std::vector<Handle> behind_;
  std::vector<Forgetting> forgetting_;  ///< in the order of their records
  uint32_t owners_sought_ = 0;
  uint64_t counter_ = 0;
  int64_t wall_ms_ = 0;
  int64_t wall_read_at_ns_ = 0;
};

}  // namespace taut::gateway
