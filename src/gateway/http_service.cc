#include "gateway/http_service.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"
#include "gateway/archive_questions.h"
#include "gateway/assets.h"
#include "gateway/blocking.h"
#include "gateway/cors.h"
#include "gateway/explanation.h"
#include "gateway/forgetting.h"
#include "gateway/history_api.h"
#include "gateway/mails.h"
#include "gateway/moved_connection.h"
#include "gateway/path_prefix.h"

namespace taut::gateway {

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kExplainPath = "/v1/dispatch/explain/";
constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";
constexpr uint32_t kDemoTokenSeconds = 12 * 3'600;
constexpr uint32_t kDemoAgentCapacity = 10;
constexpr int64_t kDemoIdStarts = 10'000;  // seconds, before a start may repeat an earlier one's ids

/// The demo page needs nothing from elsewhere and may be given nothing.
constexpr std::array<wire::HttpHeader, 4> kPageHeaders{{
    {"Content-Security-Policy", "default-src 'self'; connect-src 'self' ws: wss:; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cache-Control", "no-cache"},
}};

/// The id in /v1/visitors/{id}/block.
std::optional<std::string_view> blocked_visitor_of(std::string_view path) {
  constexpr std::string_view kBefore = "/v1/visitors/";
  constexpr std::string_view kBehind = "/block";
  const bool fits =
      path.size() > kBefore.size() + kBehind.size() && path.starts_with(kBefore) && path.ends_with(kBehind);
  if (!fits) return std::nullopt;
  return path.substr(kBefore.size(), path.size() - kBefore.size() - kBehind.size());
}

/// The id in /v1/visitors/{id}.
std::optional<std::string_view> visitor_of(std::string_view path) {
  constexpr std::string_view kBefore = "/v1/visitors/";
  if (!path.starts_with(kBefore)) return std::nullopt;
  path.remove_prefix(kBefore.size());
  return path.empty() || path.contains('/') ? std::nullopt : std::optional(path);
}

/// `group` and `name` are of the demonstration, which makes them itself.
std::string token_json(std::string_view token, const wire::TokenRequest& request, std::string_view group,
                       std::string_view name) {
  // Every part is a token, a valid id or a name of ours: nothing to escape.
  std::string json =
      R"({"token":")" + std::string(token) + R"(","id":")" + request.id + R"(","site":")" + request.site;
  if (!group.empty()) json.append(R"(","group":")").append(group);
  if (!name.empty()) json.append(R"(","name":")").append(name);
  return json + "\"}\n";
}

}  // namespace

HttpService::HttpService(const Settings& settings, const Layout& layout, const auth::Secrets& secrets,
                         const std::optional<auth::AdminKey>& admin_key, std::vector<MetricsSource> sources,
                         const Cell& leaving)
    : settings_(settings),
      layout_(layout),
      admin_key_(admin_key),
      sources_(std::move(sources)),
      leaving_(leaving),
      signer_(secrets),
      connections_(layout.http_service()),
      pending_(layout.http_service()) {}

HttpService::~HttpService() {
  connections_.for_each([this](Handle, Connection& c) { shard_->timers().cancel(c.idle); });
}

// -- connections --

void HttpService::on_mail(ShardId /*from*/, std::span<const Mail> batch) {
  for (const Mail& mail : batch) {
    if (mail.kind == static_cast<uint32_t>(MailKind::inquiry_answered)) {
      on_inquiry(mail.as<InquiryMail>());
    } else if (mail.kind == static_cast<uint32_t>(MailKind::archive_answered)) {
      on_archive(mail.as<ArchiveMail>());
    } else {
      TAUT_ASSERT(mail.kind == static_cast<uint32_t>(MailKind::move_http));
      adopt(mail);
    }
  }
}

void HttpService::adopt(const Mail& mail) {
  const std::unique_ptr<MovedConnection> moved(mail.as<ConnectionMail>().connection);
  if (stopping_ || connections_.size() >= kConnectionsMax) return;  // closes it
  Connection& connection = connections_.emplace();
  connection.stream = std::move(moved->stream);
  connection.in = std::move(moved->unread);
  connection.idle.owner = connection.self.bits();
  shard_->timers().arm(connection.idle, shard_->now_ns() + kIdleNs);
  if (!shard_->poller().add(connection.stream.fd(), Interest::read, connection.self.bits()))
    return drop(connection);
  answer(connection);
}

void HttpService::on_events(std::span<const PollEvent> events) {
  for (const PollEvent& event : events) {
    Connection* connection = connections_.find(Handle::from_bits(event.token));
    if (connection == nullptr) continue;
    if (connection->inquiry) {
      drop(*connection);  // it is watched for nothing: only the end of the connection shows
    } else if (event.writable && connection->blocked) {
      connection->blocked = false;
      shard_->poller().modify(connection->stream.fd(), Interest::read, connection->self.bits());
      write(*connection);
    } else if (event.readable && !connection->waiting) {
      read(*connection);
    }
  }
}

void HttpService::read(Connection& connection) {
  std::array<char, net::TlsSession::kRecordBytes> buffer;
  const net::IoResult result = connection.stream.read(buffer);
  if (result.status == net::Io::would_block) return;
  if (result.status == net::Io::closed) return drop(connection);
  connection.in.append(buffer.data(), result.bytes);
  secure_wipe(buffer.data(), result.bytes);
  shard_->timers().arm(connection.idle, shard_->now_ns() + kIdleNs);
  answer(connection);
}

void HttpService::continue_work() {
  const std::vector<Handle> waiting = std::exchange(waiting_, {});
  for (const Handle handle : waiting) {
    Connection* connection = connections_.find(handle);
    if (connection == nullptr) continue;
    connection->waiting = false;
    answer(*connection);
  }
}

/// One request; those behind it wait for the next turn, so that everybody gets a turn, SIGTERM included.
void HttpService::answer(Connection& connection) {
  wire::HttpOutcome outcome = wire::parse_http_request(connection.in);
  if (outcome.kind == wire::HttpOutcome::Kind::need_more) return;
  if (outcome.kind == wire::HttpOutcome::Kind::error) {
    connection.out = wire::write_http_problem(outcome.status, outcome.detail, false);
    connection.close_when_written = true;
  } else {
    connection.in.erase(0, outcome.consumed);
    return respond(connection, std::move(outcome.request));
  }
  write(connection);
}

void HttpService::write(Connection& connection) {
  while (!connection.out.empty()) {
    const iovec all{connection.out.data(), connection.out.size()};
    const net::IoResult result = connection.stream.write({&all, 1});
    connection.out.erase(0, result.bytes);
    if (result.status == net::Io::closed) return drop(connection);
    if (result.status == net::Io::would_block) {
      connection.blocked = true;
      shard_->poller().modify(connection.stream.fd(), Interest::write, connection.self.bits());
      return;
    }
  }
  if (connection.close_when_written) {
    connection.stream.end_writing();
    return drop(connection);
  }
  if (connection.in.empty()) return;
  connection.waiting = true;
  waiting_.push_back(connection.self);
}

void HttpService::drop(Connection& connection) {
  if (connection.inquiry) pending_.erase(connection.inquiry);
  shard_->timers().cancel(connection.idle);
  shard_->poller().remove(connection.stream.fd());
  connections_.erase(connection.self);
}

void HttpService::on_timer(Timer& timer) {
  Connection* connection = connections_.find(Handle::from_bits(timer.owner));
  if (connection == nullptr) return;
  if (!connection->inquiry) return drop(*connection);
  resolve(connection->inquiry, pending_.find(connection->inquiry)->inquiry->on_late());
}

void HttpService::flush() {}

void HttpService::stop() {
  stopping_ = true;
  connections_.for_each([this](Handle, Connection& connection) { drop(connection); });
}

// -- requests --

void HttpService::respond(Connection& connection, wire::HttpRequest request) {
  HttpReply reply = Cors(request, settings_.origins).refuses()
                        ? HttpAnswer{.status = 403, .problem = "this origin may not; see --origin"}
                        : route(request);
  if (auto* inquiry = std::get_if<std::unique_ptr<Inquiry>>(&reply))
    return defer(connection, std::move(request), std::move(*inquiry));
  finish(connection, request, std::move(std::get<HttpAnswer>(reply)));
}

void HttpService::finish(Connection& connection, const wire::HttpRequest& request, HttpAnswer answer) {
  std::vector<wire::HttpHeader> headers;
  Cors(request, settings_.origins).add_headers(headers);
  std::string response;
  if (!answer.problem.empty()) {
    response = wire::write_http_problem(answer.status, answer.problem, request.keep_alive, headers);
  } else {
    headers.insert(headers.end(), kPageHeaders.begin(), kPageHeaders.end());
    response = wire::write_http_response({.status = answer.status,
                                          .content_type = answer.content_type,
                                          .body = answer.body,
                                          .keep_alive = request.keep_alive,
                                          .head_only = request.method == wire::HttpMethod::head,
                                          .headers = headers});
  }
  secure_wipe(answer.body.data(), answer.body.size());
  connection.out = response;
  secure_wipe(response.data(), response.size());
  connection.close_when_written = !request.keep_alive;
  write(connection);
}

// -- answers that wait for mail --

void HttpService::defer(Connection& connection, wire::HttpRequest request, std::unique_ptr<Inquiry> inquiry) {
  secure_wipe(request.authorization.data(), request.authorization.size());
  Pending& pending = pending_.emplace(connection.self, std::move(request), std::move(inquiry));
  connection.inquiry = pending.self;
  shard_->poller().modify(connection.stream.fd(), Interest::none, connection.self.bits());
  shard_->timers().arm(connection.idle, shard_->now_ns() + kInquiryNs);
  if (std::optional<HttpAnswer> answer = pending.inquiry->ask(*shard_, pending.self))
    resolve(pending.self, std::move(*answer));
}

void HttpService::on_inquiry(const InquiryMail& mail) {
  Pending* pending = pending_.find(mail.asker);
  if (pending == nullptr) return shard_->pool().release(mail.block);  // the client has gone, or had its 503
  if (std::optional<HttpAnswer> answer = pending->inquiry->on_answer(*shard_, pending->self, mail.block))
    resolve(pending->self, std::move(*answer));
}

void HttpService::on_archive(const ArchiveMail& mail) {
  const std::unique_ptr<ArchiveQuestion> question(mail.question);
  if (question->kind != ArchiveQuestion::Kind::forgotten) --at_archive_;
  if (Pending* pending = pending_.find(mail.asker); pending != nullptr)
    resolve(mail.asker, pending->inquiry->on_archive(*question));
}

void HttpService::resolve(Handle handle, HttpAnswer answer) {
  Pending& pending = *pending_.find(handle);
  Connection& connection = *connections_.find(pending.connection);
  const wire::HttpRequest request = std::move(pending.request);
  pending_.erase(handle);
  connection.inquiry = {};
  shard_->poller().modify(connection.stream.fd(), Interest::read, connection.self.bits());
  shard_->timers().arm(connection.idle, shard_->now_ns() + kIdleNs);
  finish(connection, request, std::move(answer));
}

// -- what is served --

HttpReply HttpService::route(const wire::HttpRequest& request) {
  const std::string_view path = path_below(settings_.path_prefix, request.path());
  if (path.empty()) return HttpAnswer{.status = 404, .problem = "everything is served below --path-prefix"};
  if (request.method == wire::HttpMethod::get || request.method == wire::HttpMethod::head)
    return get(request, path);
  if (request.method == wire::HttpMethod::options) return HttpAnswer{.status = 204};
  const bool put = request.method == wire::HttpMethod::put;
  if (put || request.method == wire::HttpMethod::delete_) {
    if (const auto visitor = blocked_visitor_of(path)) return change_block(request, *visitor, put);
    if (const auto visitor = visitor_of(path); visitor && !put) return forget(request, *visitor);
    return HttpAnswer{.status = 405, .problem = "nothing takes a PUT or DELETE here"};
  }
  if (request.method != wire::HttpMethod::post)
    return HttpAnswer{.status = 405, .problem = "GET, HEAD, POST, PUT, DELETE and OPTIONS are served"};
  if (path == "/v1/tokens") return post_tokens(request);
  if (path == "/v1/demo/token" && settings_.demo) return post_demo_token(request);
  return HttpAnswer{.status = 404, .problem = "nothing takes a POST here"};
}

HttpReply HttpService::get(const wire::HttpRequest& request, std::string_view path) {
  if (path == "/healthz") return HttpAnswer{.content_type = "text/plain", .body = "ok\n"};
  if (path == "/readyz") {
    if (leaving_.load() != 0) return HttpAnswer{.status = 503, .problem = "draining"};
    return HttpAnswer{.content_type = "text/plain", .body = "ready\n"};
  }
  if (path == "/v1/trace/slowest") return get_slowest(request);
  if (path.starts_with(kExplainPath)) return get_explanation(request, path.substr(kExplainPath.size()));
  if (auto history = get_history(path, request.query(), layout_)) {
    if (std::optional<HttpAnswer> refusal = refuse_stranger(request)) return *refusal;
    if (!std::holds_alternative<std::unique_ptr<Inquiry>>(*history)) return *std::move(history);
    if (at_archive_ >= kAtArchiveMax)
      return HttpAnswer{.status = 503, .problem = "too much of the history is asked for now"};
    ++at_archive_;
    return *std::move(history);
  }
  if (path == "/metrics") return HttpAnswer{.content_type = kMetricsType, .body = metrics_page(sources_)};
  if (const Asset* asset = settings_.demo ? find_asset(path) : nullptr; asset != nullptr) {
    return HttpAnswer{.content_type = asset->content_type, .body = std::string(asset->content)};
  }
  if (path == "/v1/tokens") return HttpAnswer{.status = 405, .problem = "POST a token request here"};
  if (path == "/")
    return HttpAnswer{.status = 404, .problem = "the demo page is served with --demo; chat is at /v1/chat"};
  return HttpAnswer{.status = 404, .problem = "nothing is served here"};
}

std::optional<HttpAnswer> HttpService::refuse_stranger(const wire::HttpRequest& request) const {
  if (!admin_key_) return HttpAnswer{.status = 403, .problem = "this API needs --admin-key-file"};
  if (admin_key_->matches(request.authorization)) return std::nullopt;
  return HttpAnswer{.status = 401, .problem = "send Authorization: Bearer with the admin key"};
}

HttpAnswer HttpService::get_slowest(const wire::HttpRequest& request) {
  if (std::optional<HttpAnswer> refusal = refuse_stranger(request)) return *refusal;
  std::vector<const SlowestBoard*> boards;
  for (const MetricsSource& source : sources_) {
    if (source.gateway != nullptr) boards.push_back(&source.gateway->slowest);
  }
  return {.content_type = kJson,
          .body = slowest_page(boards, shard_->clock().wall_ms(), shard_->clock().mono_ns())};
}

HttpReply HttpService::get_explanation(const wire::HttpRequest& request, std::string_view conversation) {
  if (std::optional<HttpAnswer> refusal = refuse_stranger(request)) return *refusal;
  return explain_conversation(conversation, layout_, settings_.groups);
}

HttpReply HttpService::change_block(const wire::HttpRequest& request, std::string_view visitor, bool block) {
  if (std::optional<HttpAnswer> refusal = refuse_stranger(request)) return *refusal;
  return block ? block_visitor(visitor, request.query(), layout_) : unblock_visitor(visitor, layout_);
}

HttpReply HttpService::forget(const wire::HttpRequest& request, std::string_view visitor) {
  if (std::optional<HttpAnswer> refusal = refuse_stranger(request)) return *refusal;
  return forget_visitor(visitor, layout_);
}

HttpAnswer HttpService::post_tokens(const wire::HttpRequest& request) {
  if (std::optional<HttpAnswer> refusal = refuse_stranger(request)) return *refusal;
  Result<wire::TokenRequest> wanted = wire::read_token_request(request.body);
  if (!wanted) return {.status = 400, .problem = wanted.error().message};
  if (wanted->site.empty()) wanted->site = settings_.site;
  return {.status = 201, .content_type = kJson, .body = token_json(sign(*wanted), *wanted, {}, {})};
}

HttpAnswer HttpService::post_demo_token(const wire::HttpRequest& request) {
  // The body says {"role":"visitor"} or {"role":"agent"}; everything else is ours to choose.
  const bool agent = request.body.find("\"agent\"") != std::string::npos;
  // Counted from the second of the start: a tab that outlived a restart keeps its id, and nobody else may get
  // it.
  if (demo_ids_ == 0) demo_ids_ = static_cast<uint64_t>(shard_->clock().wall_ms() / 1'000 % kDemoIdStarts);
  wire::TokenRequest wanted{.role = agent ? Role::agent : Role::visitor,
                            .id = (agent ? "agent-" : "visitor-") + std::to_string(++demo_ids_),
                            .site = settings_.site,
                            .name = agent ? "Alex" : "Robin",
                            .groups = {},
                            .capacity = {},
                            .ttl_s = kDemoTokenSeconds};
  if (agent) {
    wanted.groups = settings_.groups;
    wanted.capacity = kDemoAgentCapacity;
  }
  return {.status = 201,
          .content_type = kJson,
          .body = token_json(sign(wanted), wanted, settings_.groups.front(), wanted.name)};
}

std::string HttpService::sign(const wire::TokenRequest& request) {
  auth::Claims claims{.id = request.id,
                      .role = request.role,
                      .site = request.site,
                      .expires_s = shard_->clock().wall_ms() / 1'000 + request.ttl_s,
                      .name = {},
                      .capacity = request.capacity,
                      .may_open = request.open};
  if (!request.name.empty()) claims.name = request.name;
  for (const std::string& group : request.groups) {
    if (claims.group_count < auth::kGroupsMax) claims.group_ids[claims.group_count++] = group;
  }
  return signer_.sign(claims);
}

}  // namespace taut::gateway
