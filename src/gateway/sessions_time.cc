// When a connection is pinged, when its silence or slowness closes it, and when to look again (of
// gateway/sessions.h).
#include <algorithm>

#include "gateway/sessions.h"

namespace taut::gateway {

void Sessions::on_timer(Timer& timer) {
  if (timer.kind == kTickTimer) {
    running_.tick(shard_.now_ns());
    if (sessions_.size() > 0) shard_.timers().arm(tick_, shard_.now_ns() + running_.tick_ns());
    return;
  }
  Session* session = sessions_.find(Handle::from_bits(timer.owner));
  if (session == nullptr || session->phase == Session::Phase::dead) return;
  judge(*session);
  if (session->phase != Session::Phase::dead) schedule(*session);
}

int64_t Sessions::running_now_ns() {
  running_.tick(shard_.now_ns());
  return running_.running_ns();
}

void Sessions::judge(Session& session) {
  const int64_t now_ns = shard_.now_ns();
  if (session.phase != Session::Phase::open) {
    const bool closing = session.phase == Session::Phase::closing;
    if ((closing ? now_ns : running_now_ns()) < session.deadline_ns) return;
    if (session.phase != Session::Phase::hello) return drop(session);
    return close(session, wire::CloseCode::protocol, "no hello in time");
  }
  if (session.over_limit_since_ns != 0 && now_ns - session.over_limit_since_ns >= limits_.slow_reader_ns) {
    return say_slow(session);
  }
  switch (session.liveness.judge(running_.running_ns())) {
    case hub::Liveness::Verdict::wait:
      return;
    case hub::Liveness::Verdict::dead:
      metrics_.closed_no_pong.add(1);
      return close(session, wire::CloseCode::no_pong, "no pong");
    case hub::Liveness::Verdict::ping:
      break;
  }
  // Without memory there is none, and no pong is waited for: the next tick looks again.
  if (write_ping(session)) {
    session.liveness.on_ping(running_.running_ns(), limits_.ping_ns);
  }
}

void Sessions::schedule(Session& session) {
  int64_t due_ns = session.deadline_ns;
  if (session.phase < Session::Phase::open) {
    due_ns = shard_.now_ns() + session.deadline_ns - running_now_ns();
  } else if (session.phase == Session::Phase::open) {
    // Running time is read at ticks, so looking more often than they come would find nothing new.
    due_ns = shard_.now_ns() + std::max(session.liveness.wait_ns(running_.running_ns()), running_.tick_ns());
    if (session.over_limit_since_ns != 0) {
      due_ns = std::min(due_ns, session.over_limit_since_ns + limits_.slow_reader_ns);
    }
  }
  shard_.timers().arm(session.timer, due_ns);
}

}  // namespace taut::gateway
