#include "gateway/sessions.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"

namespace taut::gateway {

namespace {

/// Ticks of the running clock in the shortest time that it judges, an interval of pings or the time for
/// hello: how finely a stall of the process is told from silence.
constexpr int64_t kTicksPerTime = 8;
/// Sessions that one turn can touch without the lists growing.
constexpr uint32_t kTouchedReserve = 4096;

}  // namespace

Sessions::Sessions(Shard& shard, hub::BlockReturn& back, GatewayMetrics& metrics, const SessionLimits& limits)
    : shard_(shard),
      back_(back),
      metrics_(metrics),
      limits_(limits),
      scratch_(limits.frame_bytes_max),
      sessions_(shard.id()),
      running_(std::min(limits.ping_ns, limits.hello_timeout_ns) / kTicksPerTime),
      tick_(kTickTimer, 0) {
  if (limits.deflate) {
    inflater_.emplace(limits.frame_bytes_max);
    deflater_.emplace(static_cast<uint32_t>(BufferPool::kCapacityMax));
  }
  push_list_.reserve(kTouchedReserve);
  answer_list_.reserve(kTouchedReserve);
  unfinished_.reserve(kTouchedReserve);
  dead_.reserve(kTouchedReserve);
}

Sessions::~Sessions() {
  shard_.timers().cancel(tick_);
  sessions_.for_each([&](Handle, Session& session) {
    shard_.timers().cancel(session.timer);
    session.connection.close(shard_.pool(), back_);
  });
}

void Sessions::opened(Session& session, hub::Endpoint& endpoint) {
  session.phase = Session::Phase::open;
  session.endpoint = &endpoint;
  session.liveness.start(running_.running_ns(), limits_.ping_ns);
  schedule(session);
}

// -- input --

void Sessions::on_event(const PollEvent& event) {
  Session* session = sessions_.find(Handle::from_bits(event.token));
  if (session == nullptr || session->phase == Session::Phase::dead) return;
  // Level-triggered: an event that waits is told again.
  if ((event.hung_up || session->phase < Session::Phase::open) && !has_its_turn()) return;
  if (session->phase == Session::Phase::proxy) return read_proxy_header(*session);
  if (session->phase == Session::Phase::tls) return await_handshake(*session);
  if (event.writable && session->write_blocked) {
    session->write_blocked = false;
    write(*session);
    if (session->phase == Session::Phase::dead) return;
    after_write(*session);
  }
  if (event.readable && session->phase != Session::Phase::dead && !session->read_paused) read(*session, true);
}

void Sessions::read(Session& session, bool from_socket) {
  if (from_socket && !session.deaf) {
    // Its turn comes in continue_work(). Until what it kept is understood, the scratch has no room for more.
    if (session.unfinished || session.waits_for_room || is_held_up(session)) return;
  }
  std::span<char> unread;
  if (session.deaf && session.connection.has_kept()) {
    static_cast<void>(session.connection.receive(scratch_, shard_.pool(), false, unread));  // thrown away
  }
  const net::IoResult result = session.connection.receive(scratch_, shard_.pool(), from_socket, unread);
  metrics_.bytes_received.add(result.bytes);
  if (result.status == net::Io::closed) {
    drop(session);
    return;
  }
  if (result.status == net::Io::would_block) {
    keep(session, unread);
    return;
  }
  if (session.deaf) return;
  if (session.phase == Session::Phase::http) {
    const size_t understood = events_->on_http(session, {unread.data(), unread.size()});
    unread = unread.subspan(understood);
    if (session.phase == Session::Phase::dead) return;
    if (session.leaving) {
      leave(session, unread);
      return;
    }
    if (session.phase == Session::Phase::http) {
      keep(session, unread);
      return;
    }
  }
  understand(session, unread);
}

void Sessions::understand(Session& session, std::span<char> unread) {
  inflated_bytes_ = 0;
  for (uint32_t frames = 0;; ++frames) {
    if (frames == kFramesPerTurn || inflated_bytes_ >= kInflatedBytesPerTurn || is_held_up(session)) {
      keep(session, unread);
      if (session.phase != Session::Phase::dead && !unread.empty()) mark_unfinished(session);
      return;
    }
    size_t consumed = 0;
    const bool whole = take_frame(session, unread, consumed);
    if (session.phase == Session::Phase::dead || (!whole && session.deaf)) return;
    unread = unread.subspan(consumed);
    if (!whole) return keep(session, unread);
    if (session.leaving) {
      leave(session, unread);
      return;
    }
  }
}

void Sessions::keep(Session& session, std::span<char> rest) {
  if (session.phase == Session::Phase::dead) return;
  const bool secret = is_secret(session);
  const bool kept = session.connection.keep(shard_.pool(), rest, secret);
  if (secret) secure_wipe(rest.data(), rest.size());
  if (kept) return;
  session.deaf = true;  // what follows is no whole frame
  give_up(session);
}

void Sessions::mark_unfinished(Session& session) {
  if (session.unfinished) return;
  session.unfinished = true;
  unfinished_.push_back(session.self);
}

void Sessions::continue_work() {
  continue_handshake();
  if (shard_.congested()) return;  // what is read may cause mail
  const size_t count = unfinished_.size();
  for (size_t i = 0; i < count; ++i) {
    Session* session = sessions_.find(unfinished_[i]);
    if (session == nullptr || session->phase == Session::Phase::dead) continue;
    if (session->phase < Session::Phase::open && !has_its_turn()) {
      unfinished_.push_back(unfinished_[i]);
      continue;
    }
    session->unfinished = false;
    if (is_held_up(*session)) {
      session->waits_for_room = true;  // the end of this turn writes, and after_write() looks
      continue;
    }
    read(*session, false);
  }
  unfinished_.erase(unfinished_.begin(), unfinished_.begin() + static_cast<std::ptrdiff_t>(count));
}

// -- output --

void Sessions::touch(Session& session, bool push) {
  if (push && !session.touched_first) {
    session.touched_first = true;
    push_list_.push_back(&session);
  } else if (!push && !session.touched && !session.touched_first) {
    session.touched = true;
    answer_list_.push_back(&session);
  }
}

void Sessions::write_raw(Session& session, std::string_view bytes) {
  if (bytes.empty()) return;
  hub::OutQueue& out = session.connection.out();
  const std::span<char> room = out.prepare(shard_.pool(), static_cast<uint32_t>(bytes.size()));
  if (room.empty()) return give_up(session);
  std::ranges::copy(bytes, room.begin());
  if (!out.commit(shard_.pool(), static_cast<uint32_t>(bytes.size()))) return give_up(session);
  touch(session, false);
}

void Sessions::flush() {
  for (std::vector<Session*>* list : {&push_list_, &answer_list_}) {
    for (size_t i = 0; i < list->size(); ++i) {  // a drained session may get more to write
      Session& session = *(*list)[i];
      (list == &push_list_ ? session.touched_first : session.touched) = false;
      if (session.phase == Session::Phase::dead) continue;
      if (!session.write_blocked) write(session);
      if (session.phase != Session::Phase::dead) after_write(session);
    }
    list->clear();
  }
  for (Session* session : dead_) sessions_.erase(session->self);
  if (!dead_.empty()) metrics_.connections.store(sessions_.size());
  if (deflater_) {
    metrics_.deflate_bytes_in.store(deflater_->bytes_in());
    metrics_.deflate_bytes_out.store(deflater_->bytes_out());
  }
  dead_.clear();
  comings_and_goings_ = 0;
}

void Sessions::write(Session& session) {
  const uint32_t before = session.connection.out().pending_bytes();
  const net::Io result = session.connection.write(shard_.pool(), back_);
  metrics_.bytes_sent.add(before - session.connection.out().pending_bytes());
  if (result == net::Io::closed) return drop(session);
  if (result == net::Io::would_block) {
    session.write_blocked = true;
    metrics_.writes_blocked.add(1);
  }
}

void Sessions::after_write(Session& session) {
  const uint32_t pending = session.connection.out().pending_bytes();
  if (session.phase == Session::Phase::closing) {
    if (pending == 0) finish_goodbye(session);
    if (session.phase != Session::Phase::dead) update_interest(session);
    return;
  }
  if (pending > limits_.hard_limit_bytes) return say_slow(session);
  const bool over = pending >= limits_.soft_limit_bytes;
  if (over && session.over_limit_since_ns == 0) {
    session.over_limit_since_ns = shard_.now_ns();
    schedule(session);
  } else if (!over && (session.over_limit_since_ns != 0 || !session.pages_waiting.empty())) {
    // A page may have met the limit within this turn, and the write then found room for all of it.
    session.over_limit_since_ns = 0;
    events_->on_drained(session);
  }
  if (!over && session.waits_for_room) {
    session.waits_for_room = false;
    mark_unfinished(session);
  }
  session.read_paused = over;
  update_interest(session);
}

void Sessions::say_slow(Session& session) {
  metrics_.closed_slow.add(1);
  shard_.log().info(
      "connection {} of {} from {} reads too slowly: closed with 4103, {} bytes unread", session.self.slot(),
      session.endpoint == nullptr ? std::string_view("nobody") : std::string_view(session.endpoint->id),
      net::IpText(session.client), session.connection.out().pending_bytes());
  if (!session.connection.drop_unstarted(shard_.pool(), back_)) return drop(session);
  close(session, wire::CloseCode::slow_consumer, "slow consumer");
}

void Sessions::close(Session& session, wire::CloseCode code, std::string_view reason,
                     uint32_t retry_after_ms) {
  if (session.phase == Session::Phase::dead || session.phase == Session::Phase::closing) return;
  const bool framed = session.is_framed();
  if (session.phase == Session::Phase::open) events_->on_gone(session);
  session.endpoint = nullptr;
  session.phase = Session::Phase::closing;
  session.read_paused = false;
  // What follows a refused request is no WebSocket; what had to wait so far is not waited for.
  session.deaf =
      session.deaf || !framed || session.unfinished || session.waits_for_room || over_soft_limit(session);
  session.deadline_ns = shard_.now_ns() + kGoodbyeNs;
  if (framed && !write_goodbye(session, code, reason, retry_after_ms)) return drop(session);
  touch(session, false);
  schedule(session);
}

void Sessions::finish_goodbye(Session& session) {
  // Our half ends; the peer's close frame or end of stream, or the deadline, ends the rest.
  session.connection.stream().end_writing();
}

void Sessions::give_up(Session& session) {
  if (session.phase == Session::Phase::dead) return;
  shard_.log().warn("connection {} given up: the pool is exhausted", session.self.slot());
  if (session.phase == Session::Phase::closing) return drop(session);
  close(session, wire::CloseCode::overloaded, "no memory");
}

void Sessions::drop(Session& session) {
  if (session.phase == Session::Phase::dead) return;
  if (session.phase == Session::Phase::open) events_->on_gone(session);
  shard_.poller().remove(session.connection.fd());
  bury(session);
}

void Sessions::bury(Session& session) {
  shard_.timers().cancel(session.timer);
  session.connection.close(shard_.pool(), back_);
  session.phase = Session::Phase::dead;
  session.endpoint = nullptr;
  dead_.push_back(&session);
}

void Sessions::close_all(wire::CloseCode code, std::string_view reason, uint32_t spread_ms) {
  const uint64_t count = sessions_.size();
  uint64_t told = 0;
  sessions_.for_each([&](Handle, Session& session) {
    if (!session.is_framed()) return drop(session);
    close(session, code, reason, static_cast<uint32_t>(spread_ms * told++ / count));
  });
}

void Sessions::update_interest(Session& session) {
  const auto wanted = static_cast<Interest>((session.read_paused ? 0 : 1) | (session.write_blocked ? 2 : 0));
  if (wanted == session.interest) return;
  session.interest = wanted;
  shard_.poller().modify(session.connection.fd(), wanted, session.self.bits());
}

}  // namespace taut::gateway
