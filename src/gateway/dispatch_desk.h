// The dispatcher's place: brings it the words of all shards and sends its decisions out.
#pragma once

#include <cstdint>
#include <string_view>

#include "chat/dispatcher.h"
#include "core/shard.h"
#include "gateway/gateway_metrics.h"
#include "gateway/group_rules.h"
#include "gateway/journal_feed.h"
#include "gateway/mails.h"
#include "gateway/recovery.h"
#include "hub/block_return.h"

namespace taut::gateway {

/// One per process, on the shard that Conversations::Options::dispatcher names; its thread only. Decisions
/// leave in the order in which they were taken, so that every conversation hears a consistent story.
class DispatchDesk {
 public:
  static constexpr uint32_t kDeadlineTimer = 32;
  static constexpr uint32_t kHoursTimer = 33;
  /// The longest time between two looks at the calendar: it may have been set meanwhile, and a timer is late
  /// by up to a thirtieth of its time.
  static constexpr int64_t kCalendarMs = 10'000;

  /// `rules` outlives it; its overflow stands in `options`, too.
  DispatchDesk(Shard& shard, hub::BlockReturn& back, JournalFeed& feed, GatewayMetrics& metrics,
               const chat::Dispatcher::Options& options, const GroupRules& rules, uint32_t chat_shards);
  DispatchDesk(const DispatchDesk&) = delete;
  DispatchDesk& operator=(const DispatchDesk&) = delete;
  ~DispatchDesk();

  void agent_connected(const AgentMail& word);
  void agent_disconnected(const AgentMail& word);
  void agent_presence(const AgentMail& word);
  /// What agents said of their presence before this start.
  void restore_words(const std::vector<RecoveredWord>& words);
  void conversation_restored(const RestoredMail& word);
  void conversation_opened(const OpenedMail& word);
  void conversation_accepted(const WordMail& word);
  void conversation_declined(const WordMail& word);
  void conversation_closed(const WordMail& word);
  void take_wanted(const ClaimMail& claim);
  void transfer_wanted(const ClaimMail& claim);
  void list_wanted(Block* page);
  void explain_wanted(const InquiryMail& mail);
  void on_deadline();
  /// Opens and closes groups by their working hours.
  void on_hours();

  /// Once per turn: positions, and the timer for what is due next.
  void end_turn();

 private:
  void answer(const ClaimMail& claim, chat::Code code, bool take);
  void name_new_agents();
  void send_effects();

  Shard& shard_;
  hub::BlockReturn& back_;
  JournalFeed& feed_;
  GatewayMetrics& metrics_;
  PoolResource memory_;
  chat::Dispatcher dispatcher_;
  uint32_t chat_shards_;
  uint32_t groups_;
  uint32_t agents_named_ = 0;
  bool touched_ = false;
  const GroupRules& rules_;
  Timer deadline_{kDeadlineTimer, 0};
  chat::GroupSet open_ = ~chat::GroupSet{0};  ///< as the dispatcher knows it
  Timer hours_{kHoursTimer, 0};
};

}  // namespace taut::gateway
