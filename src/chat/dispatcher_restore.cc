// What the dispatcher knew before a restart (the restoring of chat/dispatcher.h).
#include "chat/dispatcher_impl.h"

namespace taut::chat {

bool Dispatcher::conversation_restored(const Restored& what, int64_t now_ns) {
  TAUT_ASSERT(what.number > 0);
  impl_->at(now_ns);
  Ticket* ticket = impl_->add(what.number, what.conversation, what.group, what.opening, what.owner_epoch);
  if (ticket == nullptr) return false;
  Agent* owner = what.owner.empty() ? nullptr : impl_->roster.find_or_add(what.owner);
  if (owner != nullptr) {
    impl_->set_owner(*ticket, *owner, what.accepted);
    if (!owner->connected && !owner->in_grace()) impl_->start_grace(*owner);
    if (owner->key) impl_->tell_moved(*ticket, *owner);
    return true;
  }
  if (!what.owner.empty()) ++ticket->owner_epoch;
  impl_->enqueue(*ticket);
  if (!what.owner.empty()) impl_->tell_requeued(*ticket, Reason::offline);
  impl_->settle();
  return true;
}

bool Dispatcher::agent_restored(std::string_view id, Presence status, uint32_t capacity, int64_t now_ns) {
  if (impl_->roster.find_or_add(id) == nullptr) return false;
  agent_presence(id, status, capacity, now_ns);
  return true;
}

}  // namespace taut::chat
