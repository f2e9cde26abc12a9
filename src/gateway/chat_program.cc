#include "gateway/chat_program.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "base/assert.h"
#include "gateway/blocking.h"
#include "gateway/client_address.h"
#include "gateway/explanation.h"
#include "gateway/forgetting.h"
#include "gateway/moved_connection.h"
#include "wire/compact.h"

namespace taut::gateway {

namespace {

constexpr int64_t kMsNs = 1'000'000;
constexpr std::array kCarriers{Carrier::websocket, Carrier::compact};

/// The token of a listening socket. Handles of sessions have a generation, so they are none.
constexpr uint64_t token_of(Carrier carrier) {
  return static_cast<uint64_t>(carrier);
}

constexpr std::string_view kTurnedAway =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

SessionLimits limits_of(const Settings& s) {
  return {.frame_bytes_max = frame_bytes_max(s),
          .soft_limit_bytes = s.soft_limit_bytes,
          .hard_limit_bytes = s.hard_limit_bytes,
          .slow_reader_ns = s.slow_reader_ms * kMsNs,
          .hello_timeout_ns = s.hello_timeout_ms * kMsNs,
          .ping_ns = s.ping_ms * kMsNs,
          .deflate = s.deflate};
}

Conversations::Options conversation_options(const Settings& s, const GroupRules& rules, const Layout& layout,
                                            const Beginning& beginning) {
  return {.groups = s.groups,
          .conversations_max = conversations_per_shard(s, layout.chat_shards),
          .history_items = s.history_items,
          .accept_ms = s.accept_ms,
          .pool_bytes_max = s.pool_bytes_max,
          .process_start_ms = beginning.process_start_ms,
          .hash_seed = beginning.hash_seed,
          .dispatcher = layout.dispatcher(),
          .archive = layout.archive(),
          .shards = layout.chat_shards,
          .rules = rules};
}

chat::Dispatcher::Options dispatcher_options(const Settings& s, const GroupRules& rules,
                                             const Layout& layout) {
  return {.groups = static_cast<uint32_t>(s.groups.size()),
          .conversations_max = conversations_per_shard(s, layout.chat_shards) * layout.chat_shards,
          .accept_ns = s.accept_ms * kMsNs,
          .grace_ns = s.agent_grace_ms * kMsNs,
          .overflow = rules.overflow};
}

/// Everybody who is connected, should all be at home here, and everybody whose conversation is not closed
/// yet.
uint32_t identities_max(const Settings& s, const Layout& layout) {
  return s.connections_max + conversations_per_shard(s, layout.chat_shards);
}

/// REQUIRES: the table has checked them.
std::vector<net::IpNetwork> networks_of(const std::vector<std::string>& texts) {
  std::vector<net::IpNetwork> networks;
  networks.reserve(texts.size());
  for (const std::string& text : texts) networks.push_back(*net::IpNetwork::parse(text));
  return networks;
}

}  // namespace

struct ChatProgram::Parts {
  Parts(ChatProgram& program, Shard& shard)
      : back(shard),
        sessions(shard, back, program.metrics_, limits_of(program.settings_)),
        directory(shard.id(), identities_max(program.settings_, program.layout_)),
        tracer(shard.clock(), program.metrics_, program.tracer_options()),
        courier(shard, back, sessions, directory, tracer, program.metrics_),
        feed(shard, program.metrics_,
             {.mode = mode_of(program.settings_), .committer = program.layout_.committer()}),
        durable_courier(shard, courier, feed),
        conversations(
            shard, back, durable_courier, feed, directory, tracer, program.metrics_,
            conversation_options(program.settings_, program.rules_, program.layout_, program.beginning_)),
        dialogue(shard, sessions, directory, courier, conversations, tracer, program.metrics_,
                 program.settings_, program.secrets_, program.replies_,
                 {.shards = program.layout_.chat_shards,
                  .http_service = program.layout_.http_service(),
                  .dispatcher = program.layout_.dispatcher(),
                  .trusted_proxies = program.trusted_proxies_}) {
    if (program.door_.certificate != nullptr) certificate.emplace(*program.door_.certificate);
    sessions.set_events(dialogue);
    courier.set_page_listener(conversations);
    if (shard.id() == program.layout_.dispatcher()) {
      desk.emplace(shard, back, feed, program.metrics_,
                   dispatcher_options(program.settings_, program.rules_, program.layout_), program.rules_,
                   program.layout_.chat_shards);
    }
  }

  hub::BlockReturn back;
  Sessions sessions;
  hub::Directory directory;
  Tracer tracer;
  Courier courier;
  JournalFeed feed;
  DurableCourier durable_courier;
  Conversations conversations;
  Dialogue dialogue;
  std::optional<DispatchDesk> desk;
  std::optional<Published<net::TlsContext>::Reader> certificate;
  Timer listen{kListenTimer, 0};
};

ChatProgram::ChatProgram(const Settings& settings, const GroupRules& rules, const auth::Secrets& secrets,
                         const Layout& layout, const Door& door, Published<CannedReplies>& replies,
                         Beginning beginning, GatewayMetrics& metrics, std::function<void()> on_started)
    : settings_(settings),
      rules_(rules),
      secrets_(secrets),
      layout_(layout),
      door_(door),
      replies_(replies),
      trusted_proxies_(networks_of(settings.trusted_proxies)),
      beginning_(std::move(beginning)),
      metrics_(metrics),
      on_started_(std::move(on_started)) {}

ChatProgram::~ChatProgram() {
  if (parts_ == nullptr) return;
  shard_->timers().cancel(parts_->listen);
}

void ChatProgram::start(Shard& shard) {
  shard_ = &shard;
  parts_ = std::make_unique<Parts>(*this, shard);
  if (parts_->desk) parts_->desk->restore_words(std::exchange(beginning_.words, {}));
  parts_->conversations.restore(std::exchange(beginning_.shard, {}));
  parts_->dialogue.await_everybody();
  tell_when_restored();
}

void ChatProgram::tell_when_restored() {
  if (!parts_->conversations.restored()) return;
  shard_->send(layout_.dispatcher(), Mail{.kind = static_cast<uint32_t>(MailKind::shard_restored)});
}

/// One shard hears of all, so that nobody comes in while another still looks for owners.
void ChatProgram::shard_restored() {
  if (++shards_restored_ < layout_.chat_shards) return;
  for (ShardId id = 0; id < layout_.chat_shards; ++id)
    shard_->send(id, Mail{.kind = static_cast<uint32_t>(MailKind::all_restored)});
}

void ChatProgram::serve() {
  const Status added = listen();
  if (!added) shard_->log().error("this shard accepts nothing: {}", added.error().message);
  on_started_();
}

// -- connections --

void ChatProgram::on_events(std::span<const PollEvent> events) {
  for (const PollEvent& event : events) {
    if (event.token <= token_of(Carrier::compact)) {
      accept_some(static_cast<Carrier>(event.token));
    } else {
      parts_->sessions.on_event(event);
    }
  }
}

int ChatProgram::listener(Carrier carrier) const {
  return carrier == Carrier::websocket ? door_.listener : door_.compact_listener;
}

Status ChatProgram::listen() {
  for (const Carrier carrier : kCarriers) {
    if (listener(carrier) < 0) continue;
    const Status added = shard_->poller().add(listener(carrier), Interest::read, token_of(carrier), true);
    if (!added) {
      stop_listening();
      return added;
    }
    watched_[token_of(carrier)] = true;
  }
  listening_ = true;
  return {};
}

void ChatProgram::stop_listening() {
  for (const Carrier carrier : kCarriers) {
    if (std::exchange(watched_[token_of(carrier)], false)) shard_->poller().remove(listener(carrier));
  }
  listening_ = false;
}

/// Shards do not accept evenly, so the limit is of all together; another's number may be some microseconds
/// old.
uint64_t ChatProgram::connections_now() const {
  uint64_t count = parts_->sessions.size();
  for (const auto& shard : door_.shards) {
    if (shard.get() != &metrics_) count += shard->connections.load();
  }
  return count;
}

void ChatProgram::accept_some(Carrier carrier) {
  for (uint32_t i = 0; i < kAcceptsPerTurn && listening_; ++i) {
    if (!newcomers_.has_token(settings_.handshake_rate, shard_->now_ns())) {
      metrics_.accepts_paused.add(1);
      return pause_listening(newcomers_.retry_after_ms(settings_.handshake_rate, shard_->now_ns()) * kMsNs);
    }
    auto [fd, peer, exhausted] = net::accept_from(listener(carrier));
    if (exhausted) {
      shard_->log().warn(
          "no descriptor left: new connections wait; raise the limit of open files (ulimit -n)");
      return pause_listening(kListenPauseNs);
    }
    if (!fd) return;
    static_cast<void>(newcomers_.take(settings_.handshake_rate, shard_->now_ns()));
    if (stopping_ || connections_now() >= settings_.connections_max) {
      metrics_.connections_refused.add(1);
      if (!parts_->certificate) {
        net::send_last_word(fd.get(), carrier == Carrier::websocket ? kTurnedAway : wire::kCompactTurnedAway);
      }
      continue;
    }
    net::TlsSession tls;
    if (parts_->certificate) {
      tls = parts_->certificate->get().session(fd.get());
      if (!tls) continue;  // no memory for it
    }
    metrics_.connections_accepted.add(1);
    net::ByteStream stream(std::move(fd), std::move(tls));
    if (settings_.proxy_protocol && is_in(peer, trusted_proxies_)) {
      parts_->sessions.accept_announced(std::move(stream), peer, carrier);
    } else {
      static_cast<void>(
          parts_->sessions.accept(std::move(stream), peer, carrier));  // it logs what went wrong
    }
  }
}

void ChatProgram::pause_listening(int64_t pause_ns) {
  stop_listening();
  shard_->timers().arm(parts_->listen, shard_->now_ns() + pause_ns);
}

void ChatProgram::adopt(const Mail& mail) {
  const std::unique_ptr<MovedConnection> moved(mail.as<ConnectionMail>().connection);
  parts_->sessions.adopt(std::move(moved->stream), moved->client, moved->carrier, moved->decoder,
                         {moved->unread.data(), moved->unread.size()}, moved->unsent);
}

// -- mail --

void ChatProgram::on_mail(ShardId /*from*/, std::span<const Mail> batch) {
  for (const Mail& mail : batch) on_one(mail);
}

void ChatProgram::on_one(const Mail& mail) {
  if (mail.kind == hub::kReturnBlocksMail) return parts_->back.take_back(mail.as<hub::ReturnedBlocks>());
  switch (const auto kind = static_cast<MailKind>(mail.kind); kind) {
    case MailKind::move_connection:
      return adopt(mail);
    case MailKind::deliver:
      return parts_->courier.receive(mail.as<Delivery>());
    case MailKind::agent_request: {
      Block* request = mail.as<RequestMail>().request;
      parts_->tracer.resume(trace_of(*request), shard_->now_ns());
      parts_->conversations.handle(unpack(*request));
      return parts_->back.release(request);
    }
    case MailKind::page_taken:
      return parts_->conversations.on_page_taken(mail.as<PageTaken>());
    case MailKind::agent_named: {
      const auto named = mail.as<AgentNamed>();
      parts_->conversations.agent_named(named.index, named.id->bytes());
      return parts_->back.release(named.id);
    }
    case MailKind::decision: {
      chat::Effect effect;
      std::memcpy(&effect, mail.payload.data(), sizeof(effect));
      return parts_->conversations.decide(effect);
    }
    case MailKind::block_wanted:
      return carry_out_block(*shard_, parts_->conversations, mail.as<InquiryMail>());
    case MailKind::forget_wanted:
      return carry_out_forgetting(parts_->conversations, mail.as<InquiryMail>());
    case MailKind::explain_visit:
      return visit(*shard_, parts_->conversations, layout_.dispatcher(), mail.as<InquiryMail>());
    case MailKind::list_visit:
      return parts_->conversations.listings().visit(mail.as<ListMail>().page);
    case MailKind::list_done:
      return parts_->conversations.listings().finish(mail.as<ListMail>().page);
    case MailKind::claim_decided:
      return parts_->conversations.answer(mail.as<Verdict>());
    case MailKind::owner_restored: {
      const auto owner = mail.as<OwnerMail>();
      parts_->dialogue.await_owner(owner);
      return parts_->back.release(owner.names);
    }
    case MailKind::owner_found:
      parts_->conversations.owner_found(mail.as<chat::OwnerMoved>());
      return tell_when_restored();
    case MailKind::shard_restored:
      return shard_restored();
    case MailKind::all_restored:
      return serve();
    case MailKind::journal_durable:
      return parts_->conversations.on_durable(mail.as<DurableMail>());
    case MailKind::older_found:
      return parts_->conversations.older_pages().on_answer(mail.as<OlderPageMail>());
    case MailKind::move_http:
    case MailKind::inquiry_answered:
    case MailKind::journal_record:
    case MailKind::segment_wanted:
    case MailKind::older_wanted:
    case MailKind::archive_asked:
    case MailKind::archive_answered:
      break;
    default:
      TAUT_ASSERT(parts_->desk.has_value());
      return on_dispatcher_word(mail, kind);
  }
  TAUT_UNREACHABLE("mail that is not for a chat shard");
}

void ChatProgram::on_dispatcher_word(const Mail& mail, MailKind kind) {
  DispatchDesk& desk = *parts_->desk;
  switch (kind) {
    case MailKind::agent_connected:
      return desk.agent_connected(mail.as<AgentMail>());
    case MailKind::agent_disconnected:
      return desk.agent_disconnected(mail.as<AgentMail>());
    case MailKind::agent_presence:
      return desk.agent_presence(mail.as<AgentMail>());
    case MailKind::conversation_opened:
      return desk.conversation_opened(mail.as<OpenedMail>());
    case MailKind::conversation_restored:
      return desk.conversation_restored(mail.as<RestoredMail>());
    case MailKind::conversation_accepted:
      return desk.conversation_accepted(mail.as<WordMail>());
    case MailKind::conversation_declined:
      return desk.conversation_declined(mail.as<WordMail>());
    case MailKind::conversation_closed:
      return desk.conversation_closed(mail.as<WordMail>());
    case MailKind::take_wanted:
      return desk.take_wanted(mail.as<ClaimMail>());
    case MailKind::list_wanted:
      return desk.list_wanted(mail.as<ListMail>().page);
    case MailKind::explain_wanted:
      return desk.explain_wanted(mail.as<InquiryMail>());
    case MailKind::transfer_wanted:
      return desk.transfer_wanted(mail.as<ClaimMail>());
    default:
      TAUT_UNREACHABLE("mail of an unknown kind");
  }
}

// -- time and turns --

void ChatProgram::on_timer(Timer& timer) {
  switch (timer.kind) {
    case Dialogue::kGraceTimer:
      return parts_->dialogue.on_grace(timer);
    case Dialogue::kPresenceTimer:
      return parts_->dialogue.on_presence_due();
    case DispatchDesk::kHoursTimer:
      return parts_->desk->on_hours();
    case DispatchDesk::kDeadlineTimer:
      return parts_->desk->on_deadline();
    case OlderPages::kTimer:
      return parts_->conversations.older_pages().on_timer();
    case kListenTimer:
      if (stopping_) return;
      if (!listen()) shard_->timers().arm(timer, shard_->now_ns() + kListenPauseNs);
      return;
    default:
      return parts_->sessions.on_timer(timer);
  }
}

void ChatProgram::flush() {
  if (parts_->desk) parts_->desk->end_turn();
  parts_->conversations.end_turn();
  parts_->tracer.begin_flush();
  parts_->sessions.flush();
  parts_->tracer.end_flush();
  parts_->back.flush();
}

bool ChatProgram::has_work() const {
  return parts_->sessions.has_work() || parts_->conversations.has_work();
}

void ChatProgram::continue_work() {
  parts_->conversations.continue_work();
  parts_->sessions.continue_work();
}

void ChatProgram::stop() {
  stopping_ = true;
  stop_listening();
  parts_->dialogue.drain();
  parts_->conversations.stop();
  parts_->sessions.close_all(wire::CloseCode::draining, "draining", settings_.drain_spread_ms);
}

Tracer::Options ChatProgram::tracer_options() const {
  return {.sample_every = settings_.trace_every,
          .record = settings_.record.empty() ? 0 : settings_.record_messages,
          .hook = trace_hook_};
}

void ChatProgram::print_record(std::string& out) const {
  parts_->tracer.print_record(shard_->id(), out);
}

bool ChatProgram::stopped() const {
  return stopping_ && parts_->sessions.size() == 0;
}

}  // namespace taut::gateway
