// People without a connection: who has gone, who may come back, and who did not (of gateway/dialogue.h).
#include <algorithm>

#include "gateway/dialogue.h"

namespace taut::gateway {

void Dialogue::on_gone(Session& session) {
  hub::Endpoint& endpoint = *session.endpoint;
  courier_.release_pages(session, true);
  stop_typing(session);
  std::erase(endpoint.connections, session.self);
  if (!endpoint.connections.empty()) return;
  const bool agent = endpoint.role == Role::agent;
  if (agent) {
    presence_words_.release_last(endpoint.self, [this](const auto& word) { tell_presence(word); });
    tell_dispatcher(MailKind::agent_disconnected, endpoint, chat::Presence::offline, 0);
  }
  begin_grace(endpoint);
  // Only its rate would be forgotten with it.
  if (!agent && endpoint.topics.empty()) directory_.rest(endpoint);
}

void Dialogue::begin_grace(hub::Endpoint& endpoint) {
  const int64_t grace_ms =
      endpoint.role == Role::agent ? settings_.agent_grace_ms : settings_.visitor_grace_ms;
  endpoint.grace.kind = kGraceTimer;
  endpoint.grace.owner = endpoint.self.bits();
  shard_.timers().arm(endpoint.grace, shard_.now_ns() + grace_ms * 1'000'000);
}

void Dialogue::await_everybody() {
  directory_.for_each([this](hub::Endpoint& endpoint) { begin_grace(endpoint); });
  metrics_.endpoints.store(directory_.size());
}

void Dialogue::await_owner(const OwnerMail& owner) {
  const std::string_view names = owner.names->bytes();
  hub::Endpoint* agent = directory_.find_or_create(Role::agent, names.substr(0, owner.agent_bytes));
  if (agent != nullptr) {
    agent->add_topic(owner.conversation, owner.owner_epoch, names.substr(owner.agent_bytes));
    begin_grace(*agent);
    metrics_.endpoints.store(directory_.size());
  }
  shard_.send(owner.conversation.shard(),
              mail_of(MailKind::owner_found,
                      chat::OwnerMoved{.conversation = owner.conversation,
                                       .agent = agent != nullptr ? agent->self : chat::AgentKey{},
                                       .opening = owner.opening,
                                       .owner_epoch = owner.owner_epoch}));
}

void Dialogue::on_grace(Timer& timer) {
  hub::Endpoint* endpoint = directory_.find(Handle::from_bits(timer.owner));
  if (endpoint == nullptr || !endpoint->connections.empty()) return;
  if (endpoint->role == Role::visitor) conversations_.visitor_left(*endpoint);
  if (endpoint->topics.empty()) {
    directory_.erase(*endpoint);
    metrics_.endpoints.store(directory_.size());
    return;
  }
  // Its conversations still name it as their receiver: it stays until they are closed or given to others.
  const int64_t grace_ms =
      endpoint->role == Role::agent ? settings_.agent_grace_ms : settings_.visitor_grace_ms;
  shard_.timers().arm(timer, shard_.now_ns() + std::max<int64_t>(grace_ms, 1'000) * 1'000'000);
}

}  // namespace taut::gateway
