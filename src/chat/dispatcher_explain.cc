// Why a conversation waits: how each agent of its groups stands to it (Dispatcher::explain).
#include "chat/dispatcher_impl.h"

namespace taut::chat {

namespace {

/// Agents looked at for one page.
constexpr uint32_t kExplainLookedAtMax = 256;

}  // namespace

Dispatcher::Explanation Dispatcher::explain(ConversationKey key, uint32_t from,
                                            std::span<Explained> out) const {
  TAUT_ASSERT(!out.empty());
  const Ticket* ticket = impl_->find(key);
  if (ticket == nullptr) return {};
  Explanation found{.state = ticket->state, .group = ticket->group, .owner = ticket->owner};
  if (ticket->state != ConversationState::queued) return found;
  found.position = ticket->position_told;
  const GroupId overflow = impl_->options.overflow[ticket->group].to;
  const GroupSet groups = group_bit(ticket->group) | (overflow == kNoGroup ? 0 : group_bit(overflow));
  uint32_t index = from;
  for (uint32_t looked_at = 0; index < agents(); ++index, ++looked_at) {
    if (found.count == out.size() || looked_at == kExplainLookedAtMax) break;
    const Agent& agent = impl_->roster[index];
    if ((agent.groups & groups) == 0) continue;
    out[found.count++] = {.agent_index = index,
                          .load = static_cast<uint32_t>(agent.owned.size()),
                          .capacity = agent.capacity(),
                          .presence = agent.effective_presence(),
                          .exclusion = impl_->eligible(agent, *ticket)};
  }
  if (index < agents()) found.next = index;
  return found;
}

}  // namespace taut::chat
