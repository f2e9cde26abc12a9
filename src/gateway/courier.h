// Brings frames to connections and endpoints, wherever their home is.
#pragma once

#include <cstdint>
#include <vector>

#include "core/shard.h"
#include "gateway/frame.h"
#include "gateway/gateway_metrics.h"
#include "gateway/mails.h"
#include "gateway/sessions.h"
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

/// One per shard, its thread only. Frames to one receiver keep their order, whatever shard it lives on.
class Courier {
 public:
  Courier(Shard& shard, hub::BlockReturn& back, Sessions& sessions, hub::Directory& directory,
          GatewayMetrics& metrics)
      : shard_(shard), back_(back), sessions_(sessions), directory_(directory), metrics_(metrics) {}

  void set_page_listener(PageListener& listener) { pages_ = &listener; }

  /// Encodes an answer for one connection. A connection for which there is no memory is dropped: it resumes.
  template <class M>
  void answer(Handle connection, const M& message, Lane lane = Lane::answer) {
    if (connection.shard() == shard_.id()) {
      Session* session = reachable(connection);
      if (session == nullptr) return;
      if (!write_frame(shard_.pool(), session->connection.out(), message)) return sessions_.drop(*session);
      sessions_.touch(*session, false);
      apply(*session, Delivery{.to = connection, .lane = lane});
      return;
    }
    Block* frame = make_frame(shard_.pool(), message);
    if (frame != nullptr) deliver({.to = connection, .frame = frame, .lane = lane});
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

  /// For sessions that come below their limit, or go.
  void release_pages(Session& session, bool gone);

  /// nullptr unless the connection is open and here.
  [[nodiscard]] Session* reachable(Handle connection);

 private:
  void receive_for_endpoint(const Delivery& delivery);
  void put(Session& session, Block* frame, bool last);
  void apply(Session& session, const Delivery& delivery);
  void say_taken(uint64_t cursor, bool gone);

  Shard& shard_;
  hub::BlockReturn& back_;
  Sessions& sessions_;
  hub::Directory& directory_;
  GatewayMetrics& metrics_;
  PageListener* pages_ = nullptr;
};

}  // namespace taut::gateway
