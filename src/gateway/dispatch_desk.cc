#include "gateway/dispatch_desk.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "gateway/block_front.h"
#include "gateway/explanation.h"
#include "gateway/listing.h"
#include "gateway/wire_terms.h"

namespace taut::gateway {

DispatchDesk::DispatchDesk(Shard& shard, hub::BlockReturn& back, JournalFeed& feed, GatewayMetrics& metrics,
                           const chat::Dispatcher::Options& options, const GroupRules& rules,
                           uint32_t chat_shards)
    : shard_(shard),
      back_(back),
      feed_(feed),
      metrics_(metrics),
      memory_(shard.pool()),
      dispatcher_(options, memory_),
      chat_shards_(chat_shards),
      groups_(options.groups),
      rules_(rules) {
  on_hours();
}

DispatchDesk::~DispatchDesk() {
  shard_.timers().cancel(deadline_);
  shard_.timers().cancel(hours_);
}

void DispatchDesk::agent_connected(const AgentMail& word) {
  const bool known = dispatcher_.agent_connected(
      word.id->bytes(), word.endpoint, {.groups = word.groups, .capacity = word.capacity}, shard_.now_ns());
  if (!known)
    shard_.log().warn("agent {} gets nothing assigned: too many agents are known", word.id->bytes());
  back_.release(word.id);
  name_new_agents();
  send_effects();
}

void DispatchDesk::agent_disconnected(const AgentMail& word) {
  dispatcher_.agent_disconnected(word.id->bytes(), word.endpoint, shard_.now_ns());
  back_.release(word.id);
  send_effects();
}

void DispatchDesk::agent_presence(const AgentMail& word) {
  const std::string_view agent = word.id->bytes();
  dispatcher_.agent_presence(agent, word.status, word.capacity, shard_.now_ns());
  if (feed_.on()) {
    feed_.append_latest(
        journal::RecordType::presence, agent,
        wire::PresenceSet{.agent = agent, .status = wire_term(word.status), .capacity = word.capacity},
        shard_.clock().wall_ms());
  }
  back_.release(word.id);
  send_effects();
}

void DispatchDesk::restore_words(const std::vector<RecoveredWord>& words) {
  for (const RecoveredWord& word : words) {
    if (!dispatcher_.agent_restored(word.agent, word.status, word.capacity, shard_.now_ns())) {
      return shard_.log().warn("agents were known before the start that are too many now: {} and others",
                               std::string_view(word.agent));
    }
  }
  name_new_agents();
}

void DispatchDesk::conversation_restored(const RestoredMail& word) {
  const bool room = dispatcher_.conversation_restored(
      {.conversation = word.conversation,
       .group = word.group,
       .number = word.number,
       .opening = word.opening,
       .owner_epoch = word.owner_epoch,
       .owner = word.owner == nullptr ? std::string_view() : word.owner->bytes(),
       .accepted = word.accepted},
      shard_.now_ns());
  // Recovery leaves no more than fit.
  TAUT_ASSERT(room);
  if (word.owner != nullptr) back_.release(word.owner);
  name_new_agents();
  send_effects();
}

void DispatchDesk::conversation_opened(const OpenedMail& word) {
  const bool room = dispatcher_.conversation_opened(word.conversation, word.group, word.opening,
                                                    word.owner_epoch, shard_.now_ns(), word.preferred);
  // The shards together admit no more than the dispatcher holds.
  TAUT_ASSERT(room);
  send_effects();
}

void DispatchDesk::conversation_accepted(const WordMail& word) {
  dispatcher_.accepted(word.conversation, word.owner_epoch, shard_.now_ns());
  send_effects();
}

void DispatchDesk::conversation_declined(const WordMail& word) {
  dispatcher_.declined(word.conversation, word.owner_epoch, shard_.now_ns());
  send_effects();
}

void DispatchDesk::conversation_closed(const WordMail& word) {
  dispatcher_.closed(word.conversation, shard_.now_ns());
  send_effects();
}

void DispatchDesk::take_wanted(const ClaimMail& claim) {
  answer(claim, dispatcher_.take(claim.conversation, claim.agent->bytes(), shard_.now_ns()), true);
}

void DispatchDesk::transfer_wanted(const ClaimMail& claim) {
  const int64_t now_ns = shard_.now_ns();
  const chat::Code code =
      claim.agent != nullptr
          ? dispatcher_.transfer_to_agent(claim.conversation, claim.owner_epoch, claim.agent->bytes(), now_ns)
          : dispatcher_.transfer_to_group(claim.conversation, claim.owner_epoch, claim.group, now_ns);
  answer(claim, code, false);
}

/// By way of the conversation's shard, so that the answer is there before the pushes.
void DispatchDesk::answer(const ClaimMail& claim, chat::Code code, bool take) {
  if (claim.agent != nullptr) back_.release(claim.agent);
  const Verdict verdict{
      .conversation = claim.conversation, .asker = claim.asker, .ref = claim.ref, .code = code, .take = take};
  shard_.send(claim.conversation.shard(), mail_of(MailKind::claim_decided, verdict));
  send_effects();
}

void DispatchDesk::list_wanted(Block* page) {
  Listing listing = front_of<Listing>(*page);
  const chat::Dispatcher::ListPage found =
      dispatcher_.list(listing.scope, listing.agent.view(), listing.after, listing.conversations);
  listing.count = found.count;
  listing.next = found.next;
  send_on(shard_, listing, page);
}

void DispatchDesk::explain_wanted(const InquiryMail& mail) {
  dispatcher_.flush_positions();  // of what was opened in this very turn, too
  send_effects();
  explain(shard_, dispatcher_, mail);
}

void DispatchDesk::on_deadline() {
  dispatcher_.advance(shard_.now_ns());
  send_effects();
}

void DispatchDesk::on_hours() {
  const int64_t wall_ms = shard_.clock().wall_ms();
  int64_t wait_ms = INT64_MAX;
  bool one_opened = false;
  for (chat::GroupId group = 0; group < groups_; ++group) {
    const OpenState state = rules_.state(group, wall_ms);
    const bool opens = state.open && (open_ & chat::group_bit(group)) == 0;
    if (opens && std::exchange(one_opened, true)) {
      wait_ms = 0;  // whoever waits in a group is assigned when it opens: one group a turn
      break;
    }
    if (opens || !state.open) dispatcher_.group_hours(group, state.open, shard_.now_ns());
    open_ = state.open ? open_ | chat::group_bit(group) : open_ & ~chat::group_bit(group);
    if (state.changes_at_ms != INT64_MAX)
      wait_ms = std::min({wait_ms, state.changes_at_ms - wall_ms, kCalendarMs});
  }
  send_effects();
  if (wait_ms != INT64_MAX) shard_.timers().arm(hours_, shard_.now_ns() + wait_ms * 1'000'000);
}

void DispatchDesk::end_turn() {
  if (!touched_) return;
  touched_ = false;
  dispatcher_.flush_positions();
  send_effects();
  touched_ = false;
  uint64_t queued = 0;
  for (chat::GroupId group = 0; group < groups_; ++group) queued += dispatcher_.queued(group);
  metrics_.queued.store(queued);
  const int64_t due_ns = dispatcher_.next_deadline_ns();
  if (due_ns == chat::Dispatcher::kNoDeadline) {
    shard_.timers().cancel(deadline_);
  } else {
    shard_.timers().arm(deadline_, due_ns);
  }
}

void DispatchDesk::name_new_agents() {
  for (; agents_named_ < dispatcher_.agents(); ++agents_named_) {
    const std::string_view id = dispatcher_.agent_id(agents_named_);
    for (ShardId shard = 0; shard < chat_shards_; ++shard) {
      Block* block = shard_.pool().allocate_anyway(id.size());  // once per agent and shard
      block->append(id);
      shard_.send(shard, mail_of(MailKind::agent_named, AgentNamed{.id = block, .index = agents_named_}));
    }
  }
}

void DispatchDesk::send_effects() {
  touched_ = true;
  for (const chat::Effect& effect : dispatcher_.effects()) {
    const Handle conversation =
        std::visit([](const auto& decision) { return decision.conversation; }, effect);
    Mail mail = Mail{};
    mail.kind = static_cast<uint32_t>(MailKind::decision);
    static_assert(sizeof(effect) <= sizeof(mail.payload));
    std::memcpy(mail.payload.data(), &effect, sizeof(effect));
    shard_.send(conversation.shard(), mail);
  }
  dispatcher_.clear_effects();
}

}  // namespace taut::gateway
