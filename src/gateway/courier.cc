#include "gateway/courier.h"

#include <algorithm>
#include <utility>

namespace taut::gateway {

namespace {

bool is_push(Lane lane) {
  return lane != Lane::answer && lane != Lane::send_answer;
}

bool is_live(Lane lane) {
  return lane == Lane::live || lane == Lane::live_assigned || lane == Lane::live_unassigned ||
         lane == Lane::live_lossy;
}

/// Part of a resume, which the connection waits for.
bool is_page(const Delivery& delivery) {
  return delivery.frame != nullptr &&
         (delivery.lane == Lane::page || delivery.lane == Lane::page_end || delivery.lane == Lane::release);
}

bool holds(const Session& session, const Block& frame) {
  return !session.held.empty() && session.holds(frame_conversation(frame));
}

[[nodiscard]] bool write_deflated(BufferPool& pool, hub::OutQueue& out, std::string_view payload) {
  const size_t header = wire::ws_header_size(payload.size());
  const auto bytes = static_cast<uint32_t>(header + payload.size());
  const std::span<char> room = out.prepare(pool, bytes);
  if (room.empty()) return false;
  wire::write_ws_header(room, wire::WsOpcode::text, payload.size(), true);
  std::memcpy(room.data() + header, payload.data(), payload.size());
  return out.commit(pool, bytes);
}

}  // namespace

Courier::~Courier() {
  for (const Deferred& waiting : deferred_) {
    for (const Delivery& delivery : waiting.deliveries) back_.release(delivery.frame);
  }
}

Session* Courier::reachable(Handle connection) {
  Session* session = sessions_.find(connection);
  return session != nullptr && session->phase == Session::Phase::open ? session : nullptr;
}

void Courier::receive(const Delivery& delivery) {
  if (delivery.to_endpoint) return receive_for_endpoint(delivery);
  Session* session = reachable(delivery.to);
  if (session == nullptr || (is_page(delivery) && !holds(*session, *delivery.frame))) {
    if (delivery.frame != nullptr) back_.release(delivery.frame);
    if (delivery.lane == Lane::page_end) say_taken(delivery.cursor, true);
    return;
  }
  if (is_page(delivery) && wait_behind(session->endpoint->self, delivery)) return;
  if (delivery.frame == nullptr) {
    sessions_.give_up(*session);
  } else {
    if (delivery.lane == Lane::release) session->release(frame_conversation(*delivery.frame));
    put(*session, delivery.frame, true, ++messages_);
  }
  if (session->phase != Session::Phase::open) {
    if (delivery.lane == Lane::page_end) say_taken(delivery.cursor, true);
    return;
  }
  sessions_.touch(*session, is_push(delivery.lane));
  apply(*session, delivery);
}

void Courier::receive_for_endpoint(const Delivery& delivery) {
  hub::Endpoint* endpoint = directory_.find(delivery.to);
  if (endpoint == nullptr) return back_.release(delivery.frame);
  if (defer(*endpoint, delivery)) return;
  deliver_now(*endpoint, delivery);
  if (delivery.lane == Lane::live_unassigned && !deferred_.empty()) deliver_deferred(*endpoint);
}

bool Courier::wait_behind(Handle endpoint, const Delivery& delivery) {
  const auto waiting = std::ranges::find_if(deferred_, [&](const Deferred& d) {
    return d.endpoint == endpoint && d.deliveries.front().conversation == delivery.conversation;
  });
  if (waiting == deferred_.end()) return false;
  waiting->deliveries.push_back(delivery);
  return true;
}

bool Courier::defer(const hub::Endpoint& endpoint, const Delivery& delivery) {
  if (wait_behind(endpoint.self, delivery)) return true;
  const bool full = delivery.lane == Lane::live_assigned && endpoint.topics.size() >= endpoint.capacity_max &&
                    endpoint.topic(frame_conversation(*delivery.frame)) == nullptr;
  if (full) deferred_.push_back({.endpoint = endpoint.self, .deliveries = {delivery}});
  return full;
}

void Courier::deliver_deferred(hub::Endpoint& endpoint) {
  while (endpoint.topics.size() < endpoint.capacity_max) {
    const auto next = std::ranges::find(deferred_, endpoint.self, &Deferred::endpoint);
    if (next == deferred_.end()) return;
    const std::vector<Delivery> deliveries = std::move(next->deliveries);
    deferred_.erase(next);
    for (const Delivery& delivery : deliveries) {
      if (delivery.to_endpoint) {
        deliver_now(endpoint, delivery);
      } else {
        receive(delivery);
      }
    }
  }
}

void Courier::deliver_now(hub::Endpoint& endpoint, const Delivery& delivery) {
  if (delivery.lane == Lane::live_assigned) {
    endpoint.add_topic(delivery.conversation, delivery.owner_epoch, frame_conversation(*delivery.frame));
  } else if (delivery.lane == Lane::live_unassigned) {
    endpoint.remove_topic(delivery.conversation);
  }
  // The last receiver takes the reference over, the others get one more or, of a foreign block, a copy.
  const uint64_t number = ++messages_;
  Session* last = nullptr;
  for (size_t i = 0; i < endpoint.connections.size(); ++i) {
    Session* session = reachable(endpoint.connections[i]);
    if (session == nullptr || session->self == delivery.except) continue;
    if (is_live(delivery.lane) && holds(*session, *delivery.frame)) {
      if (delivery.lane != Lane::live_unassigned) continue;
      session->release(
          frame_conversation(*delivery.frame));  // what else was to come of the resume is not for it
    }
    if (delivery.lane == Lane::live_lossy && sessions_.is_behind(*session)) continue;
    if (last != nullptr) {
      const size_t before = endpoint.connections.size();
      put(*last, delivery.frame, false, number);
      i -= before - endpoint.connections.size();  // one that was given up stood before this one
    }
    last = session;
  }
  if (last == nullptr) return back_.release(delivery.frame);
  // Other lanes bring what lay in the history, whose time on the way is over.
  if (delivery.lane == Lane::live) {
    if (const Trace trace = frame_header(*delivery.frame).trace; tracer_.wants(trace)) {
      tracer_.deliver(trace, frame_conversation(*delivery.frame), delivery.frame->home != shard_.id(),
                      shard_.now_ns());
    }
  }
  put(*last, delivery.frame, true, number);
}

void Courier::close_connections(const hub::Endpoint& endpoint, wire::CloseCode code,
                                std::string_view reason) {
  const std::vector<Handle> connections = endpoint.connections;  // closing one takes it out of the list
  for (const Handle connection : connections) {
    if (Session* session = sessions_.find(connection); session != nullptr)
      sessions_.close(*session, code, reason);
  }
}

void Courier::put(Session& session, Block* frame, bool last, uint64_t number) {
  hub::OutQueue& out = session.connection.out();
  const FrameParts parts = frame_parts(*frame, session.carrier);
  const bool home = frame->home == shard_.id();
  wire::Deflater* deflater = sessions_.deflater(session);
  const std::string_view deflated =
      deflater == nullptr ? std::string_view() : deflater->deflate(frame_json(*frame), number);
  const bool copied = !deflated.empty() || parts.size() < hub::OutQueue::kCopyBelow || (!last && !home);
  bool written = true;
  if (!deflated.empty()) {
    written = write_deflated(shard_.pool(), out, deflated);
  } else if (copied || parts.head_bytes != 0) {
    const uint32_t copied_bytes = copied ? parts.bytes : 0;
    const std::span<char> room = out.prepare(shard_.pool(), parts.head_bytes + copied_bytes);
    written = !room.empty();
    if (written) {
      std::memcpy(room.data(), parts.head.data(), parts.head_bytes);
      std::memcpy(room.data() + parts.head_bytes, frame->data() + parts.offset, copied_bytes);
      written =
          copied ? out.commit(shard_.pool(), parts.size()) : out.commit_head(shard_.pool(), parts.head_bytes);
    }
  }
  if (copied || !written) {
    if (last) back_.release(frame);
    if (!written) return sessions_.give_up(session);
  } else {
    if (!last) shard_.pool().add_ref(frame);
    if (!out.push(shard_.pool(), back_, frame, parts.offset, parts.bytes)) {
      // Behind a head without its rest there is no room for a goodbye.
      return parts.head_bytes == 0 ? sessions_.give_up(session) : sessions_.drop(session);
    }
  }
  metrics_.pushes.add(1);
  sessions_.touch(session, true);
}

void Courier::apply(Session& session, const Delivery& delivery) {
  switch (delivery.lane) {
    case Lane::send_answer:
      if (session.inflight > 0) --session.inflight;
      break;
    case Lane::page_end:
      if (sessions_.over_soft_limit(session)) {
        session.pages_waiting.push_back(delivery.cursor);
      } else {
        say_taken(delivery.cursor, false);
      }
      break;
    default:
      break;
  }
}

void Courier::release_pages(Session& session, bool gone) {
  for (const uint64_t cursor : std::exchange(session.pages_waiting, {})) say_taken(cursor, gone);
}

void Courier::say_taken(uint64_t cursor, bool gone) {
  const PageTaken taken{.cursor = cursor, .gone = gone};
  const ShardId home = Handle::from_bits(cursor).shard();
  if (home == shard_.id()) {
    pages_->on_page_taken(taken);
  } else {
    shard_.send(home, mail_of(MailKind::page_taken, taken));
  }
}

}  // namespace taut::gateway
