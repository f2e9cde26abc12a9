// Where the carriers differ: frames coming in, pings and goodbyes (of gateway/sessions.h).
#include <algorithm>
#include <string>

#include "base/bytes.h"
#include "gateway/frame.h"
#include "gateway/sessions.h"
#include "wire/compact.h"

namespace taut::gateway {

namespace {

constexpr uint32_t kControlFrameMax = 2 + static_cast<uint32_t>(wire::kWsControlBytesMax);
constexpr auto kPongNumber = static_cast<uint32_t>(wire::ServerType::pong);
/// What Scratch has room for.
static_assert(wire::kNetstringAroundMax <= wire::kWsKeptBeyondMessageMax);

bool is_pong(std::span<const char> body) {
  const auto parts = wire::parse_compact_body({body.data(), body.size()});
  return parts && parts->type == kPongNumber;
}

}  // namespace

bool Sessions::take_frame(Session& session, std::span<char> unread, size_t& consumed) {
  return session.carrier == Carrier::websocket ? take_websocket_frame(session, unread, consumed)
                                               : take_netstring(session, unread, consumed);
}

bool Sessions::take_websocket_frame(Session& session, std::span<char> unread, size_t& consumed) {
  const wire::WsOutcome outcome = session.connection.decoder().next(unread);
  consumed = outcome.consumed;
  switch (outcome.kind) {
    case wire::WsOutcome::Kind::need_more:
      return false;
    case wire::WsOutcome::Kind::error:
      on_broken_framing(session, outcome.close_code, outcome.reason);
      return false;
    case wire::WsOutcome::Kind::control:
      on_control(session, outcome);
      return true;
    case wire::WsOutcome::Kind::message:
      break;
  }
  if (outcome.opcode != wire::WsOpcode::text && session.phase != Session::Phase::closing) {
    metrics_.frames_received.add(1);
    close(session, wire::CloseCode::protocol, "text frames only");
    return true;
  }
  if (outcome.deflated && session.phase != Session::Phase::closing)
    return take_deflated(session, outcome.payload);
  take_message(session, outcome.payload);
  return true;
}

bool Sessions::take_deflated(Session& session, std::span<char> payload) {
  const wire::Inflated inflated = inflater_->inflate(payload);
  if (is_secret(session)) secure_wipe(payload.data(), payload.size());
  if (inflated.close_code != wire::CloseCode::none) {
    on_broken_framing(session, inflated.close_code, inflated.reason);
    return false;
  }
  inflated_bytes_ += static_cast<uint32_t>(inflated.message.size());
  take_message(session, inflated.message);
  return true;
}

bool Sessions::take_netstring(Session& session, std::span<char> unread, size_t& consumed) {
  const wire::NetstringOutcome outcome = wire::next_netstring(unread, limits_.frame_bytes_max);
  consumed = outcome.consumed;
  switch (outcome.kind) {
    case wire::NetstringOutcome::Kind::need_more:
      return false;
    case wire::NetstringOutcome::Kind::error:
      on_broken_framing(session, outcome.close_code, outcome.reason);
      return false;
    case wire::NetstringOutcome::Kind::body:
      break;
  }
  if (is_pong(outcome.body)) {
    session.liveness.on_pong();
  } else {
    take_message(session, outcome.body);
  }
  return true;
}

void Sessions::take_message(Session& session, std::span<char> message) {
  metrics_.frames_received.add(1);
  if (session.phase == Session::Phase::closing) return;
  const bool secret = is_secret(session);
  events_->on_frame(session, message);
  if (secret) secure_wipe(message.data(), message.size());
}

void Sessions::on_control(Session& session, const wire::WsOutcome& frame) {
  if (frame.opcode == wire::WsOpcode::pong) {
    session.liveness.on_pong();
    return;
  }
  if (frame.opcode == wire::WsOpcode::ping) {
    if (session.phase == Session::Phase::closing) return;
    if (!write_control(session, wire::WsOpcode::pong, frame.text())) give_up(session);
    return;
  }
  if (session.phase == Session::Phase::closing) {
    drop(session);  // the peer answered our goodbye
    return;
  }
  const bool echo = frame.close_code != wire::CloseCode::none;
  close(session, echo ? frame.close_code : wire::CloseCode::done, "");
}

void Sessions::on_broken_framing(Session& session, wire::CloseCode code, std::string_view reason) {
  metrics_.closed_protocol.add(1);
  session.deaf = true;  // nobody knows where the next frame begins
  if (session.phase == Session::Phase::closing) return drop(session);
  if (session.carrier == Carrier::compact) {
    const wire::ErrorMessage error{
        .code = code == wire::CloseCode::too_big ? wire::ErrorCode::too_large : wire::ErrorCode::bad_field,
        .message = reason};
    if (!write_frame(shard_.pool(), session.connection.out(), session.carrier, error))
      return give_up(session);
  }
  close(session, code, reason);
}

bool Sessions::write_control(Session& session, wire::WsOpcode opcode, std::string_view payload) {
  hub::OutQueue& out = session.connection.out();
  const std::span<char> room = out.prepare(shard_.pool(), kControlFrameMax);
  if (room.empty()) return false;
  const size_t size = wire::write_ws_control(room, opcode, payload);
  if (!out.commit(shard_.pool(), static_cast<uint32_t>(size))) return false;
  touch(session, false);
  return true;
}

bool Sessions::write_ping(Session& session) {
  if (session.carrier == Carrier::websocket) return write_control(session, wire::WsOpcode::ping, {});
  hub::OutQueue& out = session.connection.out();
  const std::span<char> room = out.prepare(shard_.pool(), wire::kCompactPing.size());
  if (room.empty()) return false;
  std::ranges::copy(wire::kCompactPing, room.begin());
  if (!out.commit(shard_.pool(), wire::kCompactPing.size())) return false;
  touch(session, false);
  return true;
}

bool Sessions::write_goodbye(Session& session, wire::CloseCode code, std::string_view reason,
                             uint32_t retry_after_ms) {
  hub::OutQueue& out = session.connection.out();
  if (session.carrier == Carrier::compact) {
    return write_frame(shard_.pool(), out, session.carrier,
                       wire::Bye{.code = code, .reason = reason, .retry_after_ms = retry_after_ms});
  }
  std::string text(reason);
  if (retry_after_ms != 0) text += " retry_after_ms=" + std::to_string(retry_after_ms);
  const std::span<char> room = out.prepare(shard_.pool(), kControlFrameMax);
  if (room.empty()) return false;
  const size_t size = wire::write_ws_close(room, code, text);
  return out.commit(shard_.pool(), static_cast<uint32_t>(size));
}

}  // namespace taut::gateway
