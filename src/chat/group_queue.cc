#include "chat/group_queue.h"

namespace taut::chat {

void GroupQueue::insert(Ticket& ticket) {
  ticket.position_told = 0;
  tickets_.insert(tickets_.end(), ticket);  // the hint: nearly every insertion is at the end
  if (cursor_ != tickets_.end() && ticket.number < cursor_->number) ++cursor_place_;
}

void GroupQueue::erase(Ticket& ticket) {
  if (cursor_ != tickets_.end()) {
    if (&*cursor_ == &ticket) {
      ++cursor_;  // its successor takes over the place
    } else if (ticket.number < cursor_->number) {
      --cursor_place_;
    }
  }
  tickets_.erase(tickets_.iterator_to(ticket));
}

}  // namespace taut::chat
