#include "gateway/dialogue.h"

#include <algorithm>
#include <utility>

#include "auth/origin.h"
#include "base/assert.h"
#include "gateway/client_address.h"
#include "gateway/conversation_id.h"
#include "gateway/moved_connection.h"
#include "gateway/path_prefix.h"
#include "gateway/wire_terms.h"
#include "wire/deflate_offer.h"

namespace taut::gateway {

namespace {

constexpr std::string_view kChatPath = "/v1/chat";

/// Whether messages of this type carry a ref that their answer repeats.
bool has_ref(wire::ClientType type) {
  return type != wire::ClientType::hello && type != wire::ClientType::typing &&
         type != wire::ClientType::delivered && type != wire::ClientType::read;
}

}  // namespace

Dialogue::Dialogue(Shard& shard, Sessions& sessions, hub::Directory& directory, Courier& courier,
                   Conversations& conversations, Tracer& tracer, GatewayMetrics& metrics,
                   const Settings& settings, const auth::Secrets& secrets, Published<CannedReplies>& replies,
                   const Options& options)
    : shard_(shard),
      sessions_(sessions),
      directory_(directory),
      courier_(courier),
      conversations_(conversations),
      tracer_(tracer),
      metrics_(metrics),
      settings_(settings),
      options_(options),
      replies_(replies),
      reader_({.frame_bytes_max = frame_bytes_max(settings), .text_bytes_max = settings.max_text_bytes}),
      verifier_(secrets) {}

Dialogue::~Dialogue() {
  shard_.timers().cancel(presence_due_);
  directory_.for_each([this](hub::Endpoint& endpoint) { shard_.timers().cancel(endpoint.grace); });
}

// -- the handshake --

std::string_view Dialogue::refuse_origin(const wire::HttpRequest& request) const {
  const std::optional<std::string_view> origin =
      request.origin.empty() ? std::nullopt : std::optional<std::string_view>(request.origin);
  if (auth::origin_accepted(origin, request.host, settings_.origins)) return {};
  return "this origin may not connect; the server's --origin lists those that may";
}

size_t Dialogue::on_http(Session& session, std::string_view bytes) {
  const wire::HttpOutcome outcome = wire::parse_http_request(bytes);
  if (outcome.kind == wire::HttpOutcome::Kind::need_more) return 0;
  session.client = client_address(session.client, outcome.request.forwarded_for, options_.trusted_proxies);
  const std::string_view path = path_below(settings_.path_prefix, outcome.request.path());
  std::string refusal;
  if (outcome.kind == wire::HttpOutcome::Kind::error) {
    refusal = wire::write_http_problem(outcome.status, outcome.detail, false);
  } else if (!outcome.request.websocket && path != kChatPath) {
    session.leaving = true;
    leaving_to_ = options_.http_service;
    leaving_hello_.clear();
    return 0;
  } else if (path != kChatPath) {
    refusal = wire::write_http_problem(
        404, "WebSockets are served at " + settings_.path_prefix + std::string(kChatPath), false);
  } else if (const auto check = wire::check_ws_upgrade(outcome.request); !check.accepted) {
    refusal = wire::write_ws_refusal(check);
  } else if (const std::string_view why = refuse_origin(outcome.request); !why.empty()) {
    refusal = wire::write_http_problem(403, why, false);
  }
  if (!refusal.empty()) {
    metrics_.handshakes_refused.add(1);
    shard_.log().debug("connection {} from {}: handshake refused", session.self.slot(),
                       net::IpText(session.client));
    sessions_.write_raw(session, refusal);
    sessions_.close(session, wire::CloseCode::done, "");
    return bytes.size();
  }
  const std::string_view deflate =
      settings_.deflate ? wire::accept_deflate(outcome.request.websocket_extensions) : std::string_view();
  if (!deflate.empty()) session.connection.decoder().allow_deflate();
  sessions_.write_raw(session, wire::write_ws_accept(outcome.request, deflate));
  if (session.phase == Session::Phase::http) session.phase = Session::Phase::hello;
  return outcome.consumed;
}

void Dialogue::on_leave(Session& session, net::ByteStream stream, std::string_view unread,
                        std::string unsent) {
  auto* moved = new MovedConnection{.stream = std::move(stream),
                                    .client = session.client,
                                    .carrier = session.carrier,
                                    .decoder = session.connection.decoder(),
                                    .unread = std::exchange(leaving_hello_, {}),
                                    .unsent = std::move(unsent)};
  moved->unread.append(unread);
  const MailKind kind =
      leaving_to_ == options_.http_service ? MailKind::move_http : MailKind::move_connection;
  shard_.send(leaving_to_, mail_of(kind, ConnectionMail{moved}));
}

// -- frames --

void Dialogue::on_frame(Session& session, std::span<char> frame) {
  tracer_.begin(shard_.now_ns());
  const bool secret = session.phase == Session::Phase::hello;
  understand(session, frame);
  if (secret) reader_.wipe();
}

void Dialogue::understand(Session& session, std::span<char> frame) {
  const bool compact = session.carrier == Carrier::compact;
  switch (compact ? reader_.read_compact(frame) : reader_.read(frame)) {
    case wire::ReadStatus::broken_utf8:
      metrics_.closed_protocol.add(1);
      return sessions_.close(session, wire::CloseCode::broken_utf8, "text is not UTF-8");
    case wire::ReadStatus::error:
      return on_unreadable(session, reader_.error());
    case wire::ReadStatus::message:
      break;
  }
  const wire::ClientMessage& message = reader_.message();
  tracer_.understood(message.type == wire::ClientType::send);
  if (session.phase == Session::Phase::hello) {
    if (message.type == wire::ClientType::hello) return hello(session, message, frame);
    return refuse(session, {.has_ref = has_ref(message.type),
                            .ref = message.ref,
                            .code = wire::ErrorCode::not_hello,
                            .message = "the first message must be hello"});
  }
  on_message(session, message);
}

void Dialogue::on_unreadable(Session& session, const wire::ReadError& error) {
  refuse(session, {.has_ref = error.has_ref,
                   .ref = error.ref,
                   .conversation = error.conversation,
                   .code = error.code,
                   .message = error.message,
                   .retryable = wire::retryable(error.code)});
  if (session.phase != Session::Phase::hello) return;
  metrics_.hello_errors.add(1);
  sessions_.close(session, wire::CloseCode::protocol, "hello cannot be read");
}

void Dialogue::on_message(Session& session, const wire::ClientMessage& message) {
  const Rate& rate = session.endpoint->role == Role::agent ? settings_.rate_agent : settings_.rate_visitor;
  const bool free = message.type == wire::ClientType::ping;
  if (!free && !session.endpoint->sends.take(rate, shard_.now_ns())) {
    metrics_.rate_limited.add(1);
    return refuse(session, {.has_ref = has_ref(message.type),
                            .ref = message.ref,
                            .conversation = message.conversation,
                            .code = wire::ErrorCode::rate_limited,
                            .message = "too many messages",
                            .retryable = true,
                            .retry_after_ms = static_cast<uint64_t>(
                                session.endpoint->sends.retry_after_ms(rate, shard_.now_ns()))});
  }
  const bool agent = session.endpoint->role == Role::agent;
  switch (message.type) {
    case wire::ClientType::send:
      return send(session, message);
    case wire::ClientType::ping:
      return courier_.answer(session.self, wire::Pong{.ref = message.ref});
    case wire::ClientType::open:
      if (!agent) return open(session, message);
      break;
    case wire::ClientType::rate:
      if (!agent) return on_conversation(session, message);
      break;
    case wire::ClientType::presence:
      if (agent) return presence(session, message);
      break;
    case wire::ClientType::accept:
    case wire::ClientType::decline:
    case wire::ClientType::take:
    case wire::ClientType::transfer:
    case wire::ClientType::block:
      if (agent) return on_conversation(session, message);
      break;
    case wire::ClientType::typing:
      note_typing(session, message);
      return on_conversation(session, message);
    case wire::ClientType::delivered:
    case wire::ClientType::read:
    case wire::ClientType::history:
    case wire::ClientType::close:
      return on_conversation(session, message);
    case wire::ClientType::hello:
      return refuse(session, {.code = wire::ErrorCode::bad_field, .message = "hello was said already"});
    case wire::ClientType::replies:
      if (!agent) break;
      return courier_.answer(
          session.self,
          wire::Replies{.ref = message.ref, .replies = replies_.get().for_groups(session.endpoint->groups)});
    case wire::ClientType::list:
      if (!agent) break;
      return conversations_.listings().start(requester(session, message.ref), chat_term(message.scope),
                                             message.cursor);
  }
  refuse(session, {.has_ref = true,
                   .ref = message.ref,
                   .conversation = message.conversation,
                   .code = wire::ErrorCode::forbidden,
                   .message = agent ? "for visitors only" : "for agents only"});
}

Requester Dialogue::requester(const Session& session, uint32_t ref) const {
  const hub::Endpoint& endpoint = *session.endpoint;
  const bool agent = endpoint.role == Role::agent;
  return {.kind = agent ? chat::PartyKind::agent : chat::PartyKind::visitor,
          .connection = session.self,
          .endpoint = endpoint.self,
          .groups = endpoint.groups,
          .owner_epoch = 0,
          .ref = ref,
          .other_connections = endpoint.connections.size() > 1,
          .id = endpoint.id,
          .name = endpoint.name};
}

void Dialogue::open(Session& session, const wire::ClientMessage& message) {
  conversations_.open({.from = requester(session, message.ref),
                       .partition = partition_of(Role::visitor, session.endpoint->id),
                       .group = message.group,
                       .conversation = message.conversation,
                       .subject = message.subject,
                       .attributes = message.attributes});
}

void Dialogue::send(Session& session, const wire::ClientMessage& message) {
  if (session.inflight >= settings_.max_inflight) {
    return refuse(session, {.has_ref = true,
                            .ref = message.ref,
                            .conversation = message.conversation,
                            .code = wire::ErrorCode::inflight,
                            .message = "too many sends without an ack",
                            .retryable = true});
  }
  ++session.inflight;
  ConversationRequest request{.type = wire::ClientType::send,
                              .kind = message.kind,
                              .text_clean = message.text_clean,
                              .from = requester(session, message.ref),
                              .key = {},
                              .conversation = message.conversation,
                              .client_msg_id = message.client_msg_id,
                              .text = message.text,
                              .reason = {},
                              .to_agent = {},
                              .to_group = {}};
  route(session, request);
}

void Dialogue::on_conversation(Session& session, const wire::ClientMessage& message) {
  ConversationRequest request{.type = message.type,
                              .on = message.on,
                              .seq = message.seq,
                              .before = message.before,
                              .limit = message.limit,
                              .rating = message.rating,
                              .seconds = message.seconds,
                              .from = requester(session, message.ref),
                              .key = {},
                              .conversation = message.conversation,
                              .client_msg_id = {},
                              .text = message.text,
                              .reason = message.reason,
                              .to_agent = message.to_agent,
                              .to_group = message.to_group};
  request.from.has_ref = has_ref(message.type);
  route(session, request);
}

void Dialogue::note_typing(Session& session, const wire::ClientMessage& message) {
  const hub::Topic* topic = session.endpoint->topic(message.conversation);
  if (topic == nullptr) return;
  std::erase(session.typing, topic->key);
  if (message.on) session.typing.push_back(topic->key);
}

/// Of a connection that has gone.
void Dialogue::stop_typing(Session& session) {
  for (const Handle conversation : std::exchange(session.typing, {})) {
    ConversationRequest request{.type = wire::ClientType::typing,
                                .on = false,
                                .from = requester(session, 0),
                                .key = conversation,
                                .conversation = {},
                                .client_msg_id = {},
                                .text = {},
                                .reason = {},
                                .to_agent = {},
                                .to_group = {}};
    route(session, request);
  }
}

void Dialogue::route(Session& session, ConversationRequest& request) {
  const hub::Topic* topic = session.endpoint->topic(request.conversation);
  if (topic != nullptr) {
    request.key = topic->key;
    request.from.owner_epoch = topic->owner_epoch;
  }
  if (session.endpoint->role != Role::agent) return conversations_.handle(request);
  ShardId home = shard_.id();
  if (request.key) {
    home = request.key.shard();
  } else if (const auto partition = partition_of_conversation(request.conversation); partition.has_value()) {
    home = shard_of(*partition, options_.shards);
  }
  if (home == shard_.id()) return conversations_.handle(request);
  tracer_.leave();
  Block* packed = pack(shard_.pool(), request, tracer_.current());
  if (packed != nullptr) return shard_.send(home, mail_of(MailKind::agent_request, RequestMail{packed}));
  // Of a hello it could never learn where it stands: it resumes.
  if (request.type == wire::ClientType::hello) return sessions_.give_up(session);
  if (request.type == wire::ClientType::typing) return;
  const Lane lane = request.type == wire::ClientType::send ? Lane::send_answer : Lane::answer;
  courier_.answer(session.self,
                  wire::ErrorMessage{.has_ref = request.from.has_ref,
                                     .ref = request.from.ref,
                                     .conversation = request.conversation,
                                     .code = wire::ErrorCode::overloaded,
                                     .message = "no memory for the request",
                                     .retryable = true},
                  lane);
}

void Dialogue::presence(Session& session, const wire::ClientMessage& message) {
  courier_.answer(session.self, wire::Ok{.ref = message.ref});
  if (session.phase != Session::Phase::open) return;
  hub::Endpoint& endpoint = *session.endpoint;
  const uint32_t allowed =
      message.has_capacity ? std::min(message.capacity, endpoint.capacity) : endpoint.capacity;
  // Before the first word nothing can be assigned; later an assignment under the old limit may be on its way.
  endpoint.capacity_max = endpoint.presence_said ? std::max(endpoint.capacity_max, allowed) : allowed;
  endpoint.presence_said = true;
  const PresenceWords::Word word{.agent = endpoint.self,
                                 .status = chat_term(message.status),
                                 .capacity = message.has_capacity ? message.capacity : UINT32_MAX};
  const bool armed = !presence_words_.empty();
  if (presence_words_.pass(endpoint.presence_words, word, shard_.now_ns())) return tell_presence(word);
  if (!armed) shard_.timers().arm(presence_due_, shard_.now_ns() + PresenceWords::kPauseNs);
}

void Dialogue::on_presence_due() {
  presence_words_.release(
      shard_.now_ns(),
      [this](Handle agent) {
        hub::Endpoint* endpoint = directory_.find(agent);
        return endpoint != nullptr ? &endpoint->presence_words : nullptr;
      },
      [this](const PresenceWords::Word& word) { tell_presence(word); });
  if (presence_words_.empty()) return;
  shard_.timers().arm(presence_due_, shard_.now_ns() + PresenceWords::kPauseNs);
}

void Dialogue::tell_presence(const PresenceWords::Word& word) {
  const hub::Endpoint* endpoint = directory_.find(word.agent);
  TAUT_ASSERT(endpoint != nullptr);
  tell_dispatcher(MailKind::agent_presence, *endpoint, word.status, word.capacity);
}

void Dialogue::refuse(Session& session, const wire::ErrorMessage& error) {
  if (!write_frame(shard_.pool(), session.connection.out(), session.carrier, error))
    return sessions_.give_up(session);
  sessions_.touch(session, false);
}

void Dialogue::tell_dispatcher(MailKind kind, const hub::Endpoint& endpoint, chat::Presence status,
                               uint32_t capacity) {
  Block* id = shard_.pool().allocate_anyway(endpoint.id.size());
  id->append(endpoint.id);
  shard_.send(options_.dispatcher, mail_of(kind, AgentMail{.endpoint = endpoint.self,
                                                           .groups = endpoint.groups,
                                                           .capacity = capacity,
                                                           .status = status,
                                                           .id = id}));
}

// -- goodbyes --

void Dialogue::on_drained(Session& session) {
  courier_.release_pages(session, false);
}

}  // namespace taut::gateway
