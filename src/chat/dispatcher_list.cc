// Pages of open conversations (Dispatcher::list).
#include <algorithm>
#include <array>

#include "chat/dispatcher_impl.h"

namespace taut::chat {

namespace {

/// Conversations looked at for one page.
constexpr uint32_t kListLookedAtMax = 1024;

/// Owned ones stand in no order: the page keeps the lowest numbers that it has seen.
Dispatcher::ListPage list_owned(const Agent& agent, uint64_t after, std::span<Dispatcher::Listed> out) {
  Dispatcher::ListPage page;
  bool more = false;
  for (const Ticket& ticket : agent.owned) {
    if (ticket.number <= after) continue;
    const bool full = page.count == out.size();
    more |= full;
    if (full && ticket.number > out[page.count - 1].number) continue;
    if (!full) ++page.count;
    const auto last = out.begin() + page.count - 1;
    const auto at =
        std::ranges::upper_bound(out.begin(), last, ticket.number, {}, &Dispatcher::Listed::number);
    std::move_backward(at, last, last + 1);
    *at = {.conversation = ticket.key, .number = ticket.number};
  }
  if (more) page.next = out[page.count - 1].number;
  return page;
}

}  // namespace

Dispatcher::ListPage Dispatcher::list(ListScope scope, std::string_view agent_id, uint64_t after,
                                      std::span<Listed> out) const {
  TAUT_ASSERT(!out.empty());
  const Agent* agent = impl_->roster.find(agent_id);
  if (agent == nullptr) return {};
  if (scope == ListScope::mine) return list_owned(*agent, after, out);
  return impl_->list_groups(*agent, after, out, scope == ListScope::queued);
}

Dispatcher::ListPage Dispatcher::Impl::list_groups(const Agent& agent, uint64_t after, std::span<Listed> out,
                                                   bool only_queued) const {
  std::array<OpenTickets::const_iterator, kGroupsMax> cursors;
  for_each_group(agent.groups,
                 [&](GroupId group) { cursors[group] = open_tickets[group].upper_bound(after); });
  ListPage page;
  uint64_t seen = after;
  for (uint32_t looked_at = 0;; ++looked_at) {
    const Ticket* oldest = nullptr;
    for_each_group(agent.groups, [&](GroupId group) {
      if (cursors[group] == open_tickets[group].end()) return;
      if (oldest == nullptr || cursors[group]->number < oldest->number) oldest = &*cursors[group];
    });
    if (oldest == nullptr) return page;
    if (page.count == out.size() || looked_at == kListLookedAtMax) break;
    ++cursors[oldest->group];
    seen = oldest->number;
    if (only_queued && oldest->state != ConversationState::queued) continue;
    out[page.count++] = {.conversation = oldest->key, .number = oldest->number};
  }
  page.next = seen;
  return page;
}

}  // namespace taut::chat
