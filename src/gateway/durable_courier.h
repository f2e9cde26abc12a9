// The courier of everything that follows from records of the journal: at once, or when they are durable.
#pragma once

#include <cstdint>

#include "core/mail_fifo.h"
#include "gateway/courier.h"
#include "gateway/journal_feed.h"

namespace taut::gateway {

/// One per chat shard, its thread only. Under `none` and `durable` frames go out at once, and only durable
/// acks wait; under `durable_before_deliver` everything that a conversation says waits until all that has
/// happened so far is durable, so that nobody sees what a crash could undo. What waits goes out in the order
/// in which it was said.
class DurableCourier {
 public:
  DurableCourier(Shard& shard, Courier& courier, const JournalFeed& feed)
      : shard_(shard), courier_(courier), feed_(feed) {}
  DurableCourier(const DurableCourier&) = delete;
  DurableCourier& operator=(const DurableCourier&) = delete;
  ~DurableCourier();

  /// As Courier::answer().
  template <class M>
  void answer(Handle connection, const M& message, Lane lane = Lane::answer) {
    if (!holds()) [[likely]]
      return courier_.answer(connection, message, lane);
    hold(feed_.latest(), {.to = connection, .frame = make_frame(shard_.pool(), message), .lane = lane});
  }

  /// As Courier::answer(), for what says nothing of a conversation.
  template <class M>
  void answer_now(Handle connection, const M& message, Lane lane) {
    courier_.answer(connection, message, lane);
  }

  /// As Courier::deliver(). What may be left out (live_lossy) follows from no record and does not wait.
  void deliver(const Delivery& delivery) {
    if (!holds() || delivery.lane == Lane::live_lossy) [[likely]]
      return courier_.deliver(delivery);
    hold(feed_.latest(), delivery);
  }

  /// Answers as soon as the record of this number is durable. REQUIRES: there is a journal.
  template <class M>
  void answer_when_durable(uint64_t number, Handle connection, const M& message) {
    if (held_.empty() && feed_.is_durable(number)) return courier_.answer(connection, message);
    hold(number, {.to = connection, .frame = make_frame(shard_.pool(), message), .lane = Lane::answer});
  }

  /// As Courier::close_connections(), now.
  void close_connections(const hub::Endpoint& endpoint, wire::CloseCode code, std::string_view reason) {
    courier_.close_connections(endpoint, code, reason);
  }

  /// More records are durable: what waited for them goes out.
  void release_durable();

  /// What a conversation says now goes out later, to whoever is connected then.
  [[nodiscard]] bool holds() const {
    return feed_.mode() == wire::Durability::durable_before_deliver && !feed_.is_durable(feed_.latest());
  }

 private:
  /// A delivery and the record that it waits for, in one mail.
  struct Held {
    uint64_t number = 0;
    Delivery delivery;
  };

  void hold(uint64_t number, const Delivery& delivery) {
    held_.push(Mail::of(0, Held{.number = number, .delivery = delivery}));
  }

  Shard& shard_;
  Courier& courier_;
  const JournalFeed& feed_;
  /// Each record, and each event that waits in memory to become one, is waited for by a bounded number of
  /// frames.
  MailFifo held_{4 * Shard::kOverflowMax};
};

}  // namespace taut::gateway
