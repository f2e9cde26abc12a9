// How a connection comes in, from the listener, through the handshake of TLS or from another shard, and how
// it leaves for one (of gateway/sessions.h).
#include <array>
#include <utility>

#include "base/bytes.h"
#include "gateway/sessions.h"
#include "wire/proxy_header.h"

namespace taut::gateway {

Session* Sessions::accept(net::ByteStream stream, const net::IpAddress& client, Carrier carrier) {
  Session& session = sessions_.emplace(std::move(stream), client, carrier, limits_.frame_bytes_max);
  session.timer.kind = kSessionTimer;
  session.timer.owner = session.self.bits();
  session.deadline_ns = running_now_ns() + limits_.hello_timeout_ns;
  metrics_.connections.store(sessions_.size());
  if (Status added = shard_.poller().add(session.connection.fd(), Interest::read, session.self.bits());
      !added) {
    shard_.log().warn("cannot watch a connection: {}", added.error().message);
    session.connection.close(shard_.pool(), back_);
    sessions_.erase(session.self);
    return nullptr;
  }
  if (!tick_.armed()) shard_.timers().arm(tick_, shard_.now_ns() + running_.tick_ns());
  schedule(session);
  return &session;
}

void Sessions::accept_announced(net::ByteStream stream, const net::IpAddress& proxy, Carrier carrier) {
  Session* session = accept(std::move(stream), proxy, carrier);
  if (session != nullptr) session->phase = Session::Phase::proxy;
}

/// Reads exactly the header: what follows belongs to TLS or the carrier.
void Sessions::read_proxy_header(Session& session) {
  const auto known = wire::parse_proxy_header(session.connection.kept());
  const auto missing = static_cast<uint32_t>(known.size - session.connection.kept().size());
  std::span<char> unread;
  const net::IoResult result = session.connection.receive_plain(scratch_, shard_.pool(), missing, unread);
  if (result.status == net::Io::closed) return drop(session);
  const auto header = wire::parse_proxy_header({unread.data(), unread.size()});
  switch (header.kind) {
    case wire::ProxyHeader::Kind::need_more:
      return keep(session, unread);
    case wire::ProxyHeader::Kind::error:
      metrics_.proxy_headers_refused.add(1);
      shard_.log().warn("proxy {}: PROXY header refused: {}", net::IpText(session.client), header.detail);
      return drop(session);
    case wire::ProxyHeader::Kind::header:
      if (header.has_source) session.client = {header.source};
      session.phase = session.connection.stream().encrypted() ? Session::Phase::tls : session.first_words();
  }
}

void Sessions::adopt(net::ByteStream stream, const net::IpAddress& client, Carrier carrier,
                     const wire::WsDecoder& decoder, std::span<char> unread, std::string_view unsent) {
  Session* session = accept(std::move(stream), client, carrier);
  if (session == nullptr) return;
  session->phase = Session::Phase::hello;
  session->connection.decoder() = decoder;
  write_raw(*session, unsent);
  keep(*session, unread);
  if (session->phase != Session::Phase::dead) mark_unfinished(*session);
}

void Sessions::leave(Session& session, std::span<char> unread) {
  shard_.poller().remove(session.connection.fd());
  net::ByteStream stream = session.connection.take_stream();
  std::string unsent;
  hub::OutQueue& out = session.connection.out();
  while (!out.empty()) {
    std::array<iovec, 8> pieces;  // a handshake's answer is one piece
    const size_t before = unsent.size();
    for (uint32_t i = 0, count = out.gather(pieces); i < count; ++i) {
      unsent.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
    }
    out.consume(shard_.pool(), back_, static_cast<uint32_t>(unsent.size() - before));
  }
  events_->on_leave(session, std::move(stream), {unread.data(), unread.size()}, std::move(unsent));
  secure_wipe(unread.data(), unread.size());
  bury(session);
}

// -- the handshake of TLS --

void Sessions::await_handshake(Session& session) {
  if (session.handshake_due) return;
  session.handshake_due = true;
  handshakes_.push_back(session.self);
}

/// One step of one handshake a turn: what it computes is the longest that a turn does for one connection, and
/// between two of them everybody else gets their turn.
void Sessions::continue_handshake() {
  Session* session = nullptr;
  while (session == nullptr && next_handshake_ < handshakes_.size()) {
    session = sessions_.find(handshakes_[next_handshake_++]);
    if (session != nullptr && session->phase == Session::Phase::dead) session = nullptr;
  }
  if (2 * next_handshake_ >= handshakes_.size()) {  // so each handle is moved at most once
    handshakes_.erase(handshakes_.begin(),
                      handshakes_.begin() + static_cast<std::ptrdiff_t>(next_handshake_));
    next_handshake_ = 0;
  }
  if (session != nullptr) take_handshake_step(*session);
}

void Sessions::take_handshake_step(Session& session) {
  session.handshake_due = false;
  net::ByteStream& stream = session.connection.stream();
  const net::Io result = stream.handshake();
  if (result == net::Io::closed) {
    metrics_.tls_failed.add(1);
    return drop(session);
  }
  if (result == net::Io::done) {
    metrics_.tls_handshakes.add(1);
    session.phase = session.first_words();
  }
  session.write_blocked = result == net::Io::would_block && stream.handshake_wants_to_write();
  update_interest(session);
}

}  // namespace taut::gateway
