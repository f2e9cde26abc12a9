// Brings frames to connections and endpoints, wherever their home is.
#pragma once

#include <cstdint>
#include <vector>

#include "core/shard.h"
#include "gateway/frame.h"
#include "gateway/gateway_metrics.h"
#include "gateway/mails.h"
#include "gateway/sessions.h"
#include "gateway/tracer.h"
#include "hub/block_return.h"
#include "hub/directory.h"

namespace taut::gateway {

/// Gets to know, on the conversation's shard, that the next page of a resume may follow (or that nobody wants
/// it).
class PageListener {
 public:
  virtual ~PageListener() = default;
  virtual void on_page_taken(const PageTaken& taken) = 0;
};

/// One per shard, its thread only. Frames to one receiver from one conversation keep their order, whatever
/// shards they live on.
///
/// Of different conversations they may overtake each other on their way through different rings: the
/// `assigned` of the next conversation may be here before the `unassigned` that made room for it, and an
/// agent would own more than its capacity for some microseconds. So an `assigned` that finds its agent full
/// waits, and what follows of that conversation waits behind it, until the `unassigned` arrives.
///
/// A connection that holds a conversation (Session::held) gets its missed items alone, until they end with
/// Lane::release, or with an `unassigned`: what is left of them is dropped then.
class Courier {
 public:
  Courier(Shard& shard, hub::BlockReturn& back, Sessions& sessions, hub::Directory& directory, Tracer& tracer,
          GatewayMetrics& metrics)
      : shard_(shard),
        back_(back),
        sessions_(sessions),
        directory_(directory),
        tracer_(tracer),
        metrics_(metrics) {}

  ~Courier();
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  void set_page_listener(PageListener& listener) { pages_ = &listener; }

  /// Encodes an answer for one connection. A connection for which there is no memory is given up: it resumes.
  template <class M>
  void answer(Handle connection, const M& message, Lane lane = Lane::answer) {
    if (connection.shard() == shard_.id()) {
      Session* session = reachable(connection);
      if (session == nullptr) return;
      if (!write_frame(shard_.pool(), session->connection.out(), session->carrier, message,
                       sessions_.deflater(*session)))
        return sessions_.give_up(*session);
      sessions_.touch(*session, false);
      apply(*session, Delivery{.to = connection, .lane = lane});
      return;
    }
    Block* frame = make_frame(shard_.pool(), message);  // without one its shard gives the connection up
    deliver({.to = connection, .frame = frame, .lane = lane});
  }

  /// Takes over one reference of delivery.frame.
  void deliver(const Delivery& delivery) {
    if (delivery.to.shard() != shard_.id()) {
      shard_.send(delivery.to.shard(), mail_of(MailKind::deliver, delivery));
    } else {
      receive(delivery);
    }
  }

  /// A delivery whose receiver lives here.
  void receive(const Delivery& delivery);

  /// A goodbye to all connections of an endpoint that lives here.
  void close_connections(const hub::Endpoint& endpoint, wire::CloseCode code, std::string_view reason);

  /// For sessions that come below their limit, or go.
  void release_pages(Session& session, bool gone);

  /// nullptr unless the connection is open and here.
  [[nodiscard]] Session* reachable(Handle connection);

 private:
  struct Deferred {
    Handle endpoint;
    std::vector<Delivery> deliveries;  ///< in the order of arrival
  };

  void receive_for_endpoint(const Delivery& delivery);
  [[nodiscard]] bool defer(const hub::Endpoint& endpoint, const Delivery& delivery);
  /// Behind the `assigned` of its conversation, if that waits.
  [[nodiscard]] bool wait_behind(Handle endpoint, const Delivery& delivery);
  void deliver_deferred(hub::Endpoint& endpoint);
  void deliver_now(hub::Endpoint& endpoint, const Delivery& delivery);
  /// `number` is that of this frame's message, the same for all who get it: it is compressed once.
  void put(Session& session, Block* frame, bool last, uint64_t number);
  void apply(Session& session, const Delivery& delivery);
  void say_taken(uint64_t cursor, bool gone);

  Shard& shard_;
  hub::BlockReturn& back_;
  Sessions& sessions_;
  hub::Directory& directory_;
  Tracer& tracer_;
  GatewayMetrics& metrics_;
  PageListener* pages_ = nullptr;
  std::vector<Deferred> deferred_;  ///< nearly always empty
  uint64_t messages_ = 0;           ///< delivered so far: the number of the last one
};

}  // namespace taut::gateway
