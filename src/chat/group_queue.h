// One group's waiting conversations, oldest first, and what their visitors were told about their places.
#pragma once

#include <cstdint>

#include "chat/ticket.h"

namespace taut::chat {

/// Tickets by number. Owns none of them. One thread.
///
/// Places: those near the head are recounted at every look. Behind them a cursor walks on a few tickets per
/// look and knows its exact place at all times, because each insertion or removal before it moves it by one;
/// so a far place costs nothing until the cursor comes by.
class GroupQueue {
 public:
  using Set = boost::intrusive::set<
      Ticket, boost::intrusive::member_hook<Ticket, boost::intrusive::set_member_hook<>, &Ticket::queue_hook>,
      boost::intrusive::key_of_value<TicketNumber>>;
  using Iterator = Set::iterator;

  GroupQueue() : cursor_(tickets_.end()) {}
  GroupQueue(const GroupQueue&) = delete;
  GroupQueue& operator=(const GroupQueue&) = delete;

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(tickets_.size()); }
  [[nodiscard]] Iterator begin() { return tickets_.begin(); }
  [[nodiscard]] Iterator end() { return tickets_.end(); }

  void insert(Ticket& ticket);
  void erase(Ticket& ticket);

  /// Calls tell(ticket, place) for each ticket seen whose place is not the one last told: the first `near`
  /// ones and the next `far` of the others, in turn.
  template <class Tell>
  void look(uint32_t near, uint32_t far, Tell&& tell) {
    Iterator it = tickets_.begin();
    uint32_t place = 1;
    const auto tell_changed = [&tell](Ticket& ticket, uint32_t now) {
      if (ticket.position_told == now) return;
      ticket.position_told = now;
      tell(ticket, now);
    };
    for (; it != tickets_.end() && place <= near; ++it, ++place) tell_changed(*it, place);
    if (cursor_ == tickets_.end() || cursor_place_ < place) {
      cursor_ = it;
      cursor_place_ = place;
    }
    for (uint32_t i = 0; i < far && cursor_ != tickets_.end(); ++i) tell_changed(*cursor_++, cursor_place_++);
  }

 private:
  Set tickets_;
  Iterator cursor_;
  uint32_t cursor_place_ = 1;
};

}  // namespace taut::chat
