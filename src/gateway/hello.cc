// How a connection becomes somebody: token, home shard, endpoint, and what it missed (hello of
// gateway/dialogue.h).
#include <algorithm>

#include "base/assert.h"
#include "gateway/dialogue.h"
#include "gateway/group_names.h"
#include "wire/netstring.h"
#include "wire/websocket_client.h"

namespace taut::gateway {

namespace {

/// A token that hello may carry is one that can be verified, and the other way round.
static_assert(wire::kTokenBytesMax == auth::kTokenBytesMax);

wire::CloseCode close_of(auth::TokenFault fault) {
  switch (fault) {
    case auth::TokenFault::expired:
      return wire::CloseCode::token_expired;
    case auth::TokenFault::wrong_site:
      return wire::CloseCode::unknown_site;
    default:
      return wire::CloseCode::bad_token;
  }
}

bool named_before(std::span<const wire::ResumePoint> points, size_t index) {
  for (size_t i = 0; i < index; ++i) {
    if (points[i].conversation == points[index].conversation) return true;
  }
  return false;
}

const wire::ResumePoint* point_of(std::span<const wire::ResumePoint> points, std::string_view conversation) {
  const auto it = std::ranges::find(points, conversation, &wire::ResumePoint::conversation);
  return it == points.end() ? nullptr : &*it;
}

}  // namespace

void Dialogue::hello(Session& session, const wire::ClientMessage& message, std::span<char> frame) {
  if (message.version != wire::kChatVersion) {
    return refuse_hello(session, wire::ErrorCode::bad_field, "version: this server speaks version 1",
                        wire::CloseCode::version);
  }
  if (message.site != settings_.site) {
    return refuse_hello(session, wire::ErrorCode::bad_field, "site: unknown here",
                        wire::CloseCode::unknown_site);
  }
  const auto claims = verifier_.verify(message.token, shard_.clock().wall_ms());
  if (!claims) {
    return refuse_hello(session, wire::ErrorCode::bad_token, auth::fault_name(claims.error()),
                        close_of(claims.error()));
  }
  if (const auto use = auth::check_use(*claims, message.role, message.site); !use) {
    return refuse_hello(session, wire::ErrorCode::bad_token, auth::fault_name(use.error()),
                        close_of(use.error()));
  }
  const ShardId home = shard_of(partition_of(message.role, claims->id), options_.shards);
  if (home == shard_.id()) {
    if (message.role == Role::visitor && conversations_.is_blocked(claims->id))
      return refuse_hello(session, wire::ErrorCode::forbidden, "blocked", wire::CloseCode::blocked);
    return enter(session, message, *claims);
  }
  // The home shard reads the hello again, on a WebSocket as a frame whose mask changes nothing.
  leaving_to_ = home;
  const std::string_view said(frame.data(), frame.size());
  if (session.carrier == Carrier::compact) {
    leaving_hello_.resize(wire::netstring_size(said.size()));
    wire::write_netstring(leaving_hello_, said);
  } else {
    leaving_hello_.resize(wire::ws_client_header_size(said.size()) + said.size());
    wire::write_ws_client_frame(leaving_hello_, wire::WsOpcode::text, said, 0);
  }
  session.leaving = true;
}

void Dialogue::refuse_hello(Session& session, wire::ErrorCode code, std::string_view words,
                            wire::CloseCode close) {
  metrics_.hello_errors.add(1);
  shard_.log().debug("connection {} from {}: hello refused: {}", session.self.slot(),
                     net::IpText(session.client), words);
  refuse(session, {.code = code, .message = words});
  if (session.phase != Session::Phase::dead) sessions_.close(session, close, words);
}

uint64_t Dialogue::group_bits(const auth::Claims& claims) const {
  uint64_t bits = 0;
  for (const std::string_view group : claims.groups()) {
    if (const auto known = find_group(settings_.groups, group)) bits |= chat::group_bit(*known);
  }
  return bits;
}

hub::Endpoint* Dialogue::endpoint_for(Role role, std::string_view id) {
  if (hub::Endpoint* endpoint = directory_.find_or_create(role, id); endpoint != nullptr) return endpoint;
  hub::Endpoint* oldest = directory_.oldest_resting();
  if (oldest == nullptr) return nullptr;
  shard_.timers().cancel(oldest->grace);
  directory_.erase(*oldest);
  return directory_.find_or_create(role, id);
}

void Dialogue::enter(Session& session, const wire::ClientMessage& message, const auth::Claims& claims) {
  hub::Endpoint* endpoint = draining_ ? nullptr : endpoint_for(message.role, claims.id);
  if (endpoint == nullptr) {
    return refuse_hello(session, wire::ErrorCode::overloaded, "no room for another identity",
                        wire::CloseCode::overloaded);
  }
  endpoint->name = claims.name.value_or(message.name);
  endpoint->may_open = claims.may_open;
  endpoint->groups = group_bits(claims);
  endpoint->capacity = claims.capacity.value_or(1);
  endpoint->capacity_max = std::max(endpoint->capacity_max, endpoint->capacity);
  shard_.timers().cancel(endpoint->grace);
  session.device = message.device;
  endpoint->connections.push_back(session.self);  // first, so that the one replaced is not the last to go
  replace_same_device(*endpoint, session);
  sessions_.opened(session, *endpoint);
  metrics_.endpoints.store(directory_.size());
  courier_.answer(session.self,
                  wire::Welcome{.id = endpoint->id,
                                .role = endpoint->role,
                                .mode = mode_of(settings_),
                                .ping_ms = settings_.ping_ms,
                                .max_text_bytes = settings_.max_text_bytes,
                                .max_inflight = settings_.max_inflight,
                                .server_time = static_cast<uint64_t>(shard_.clock().wall_ms())});
  if (session.phase != Session::Phase::open) return;
  if (endpoint->role == Role::agent) {
    tell_dispatcher(MailKind::agent_connected, *endpoint, chat::Presence::offline, endpoint->capacity);
  }
  say_missed(session, message);
}

void Dialogue::replace_same_device(const hub::Endpoint& endpoint, const Session& newcomer) {
  const std::vector<Handle> connections = endpoint.connections;  // closing one takes it out of the list
  for (const Handle handle : connections) {
    Session* old = sessions_.find(handle);
    if (old == nullptr || old == &newcomer || old->device != newcomer.device) continue;
    sessions_.close(*old, wire::CloseCode::replaced, "replaced by a newer connection");
  }
}

void Dialogue::say_missed(Session& session, const wire::ClientMessage& message) {
  const hub::Endpoint& endpoint = *session.endpoint;
  const bool agent = endpoint.role == Role::agent;
  const auto ask = [&](std::string_view conversation, const wire::ResumePoint* point) {
    if (session.phase != Session::Phase::open) return;  // dropped while it was told of another one
    ConversationRequest request{.type = wire::ClientType::hello,
                                .has_cursor = point != nullptr,
                                .epoch = point == nullptr ? 0 : point->epoch,
                                .seq = point == nullptr ? 0 : point->seq,
                                .from = requester(session, 0),
                                .conversation = conversation,
                                .client_msg_id = {},
                                .text = {},
                                .reason = {},
                                .to_agent = {},
                                .to_group = {}};
    route(session, request);
  };
  // Live items wait until the connection has been told where it stands. What it names need not be a topic:
  // something may come of what is closed, and an `assigned` may be on its way to this agent.
  for (const wire::ResumePoint& point : message.resume) session.held.emplace_back(point.conversation);
  if (agent) {
    for (const hub::Topic& topic : endpoint.topics) session.held.push_back(topic.id);
  }
  if (agent) {
    const std::vector<hub::Topic> topics = endpoint.topics;
    for (const hub::Topic& topic : topics) ask(topic.id, point_of(message.resume, topic.id));
  }
  for (size_t i = 0; i < message.resume.size(); ++i) {
    const std::string_view conversation = message.resume[i].conversation;
    if (named_before(message.resume, i) || (agent && endpoint.topic(conversation) != nullptr)) continue;
    ask(conversation, &message.resume[i]);
  }
}

}  // namespace taut::gateway
