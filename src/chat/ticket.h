// The dispatcher's record of one open conversation.
#pragma once

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/set.hpp>
#include <cstdint>

#include "chat/types.h"

namespace taut::chat {

/// `number` orders conversations by opening and never changes while the conversation is open.
///
/// In its group's queue while queued; in its owner's list while assigned or active; in a list of deadlines
/// while assigned (the time to accept) or while queued and held from an agent (the end of the hold).
struct Ticket {
  uint64_t number = 0;
  ConversationKey key;
  int64_t deadline_ns = 0;
  int64_t queued_at_ns = 0;
  int64_t opened_at_ns = 0;
  GroupId group = 0;
  uint32_t opening = 0;
  uint32_t owner_epoch = 0;
  uint32_t owner = kNoAgent;
  uint32_t held_from = kNoAgent;
  uint32_t preferred = kNoAgent;  ///< gets it, when it can
  uint32_t position_told = 0;     ///< 0: none since it was queued
  ConversationState state = ConversationState::queued;

  boost::intrusive::set_member_hook<> queue_hook;
  boost::intrusive::set_member_hook<> open_hook;  ///< always in its group's set
  boost::intrusive::list_member_hook<> owner_hook;
  boost::intrusive::list_member_hook<> deadline_hook;
};

struct TicketNumber {
  using type = uint64_t;
  const type& operator()(const Ticket& ticket) const { return ticket.number; }
};

using OpenTickets = boost::intrusive::set<
    Ticket, boost::intrusive::member_hook<Ticket, boost::intrusive::set_member_hook<>, &Ticket::open_hook>,
    boost::intrusive::key_of_value<TicketNumber>>;
using OwnedTickets = boost::intrusive::list<
    Ticket, boost::intrusive::member_hook<Ticket, boost::intrusive::list_member_hook<>, &Ticket::owner_hook>>;
using DeadlineTickets =
    boost::intrusive::list<Ticket, boost::intrusive::member_hook<Ticket, boost::intrusive::list_member_hook<>,
                                                                 &Ticket::deadline_hook>>;

}  // namespace taut::chat
