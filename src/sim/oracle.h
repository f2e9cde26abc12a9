// What all clients together have been told, and what therefore must be true from then on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/identity.h"

namespace taut::sim {

/// An invariant that does not hold. `name` is the same whenever the same one is hurt.
struct Violation {
  std::string name;
  std::string what;
};

/// One thread. The first violation stays.
class Oracle {
 public:
  struct Ack {
    std::string_view conversation;
    std::string_view sender;  ///< role and id
    std::string_view client_msg_id;
    uint64_t epoch = 0;
    uint64_t seq = 0;
    uint64_t ts = 0;
    bool dup = false;
    bool durable = false;
    bool note = false;
  };
  struct Item {
    std::string_view conversation;
    uint64_t epoch = 0;
    uint64_t seq = 0;
    std::string_view object;  ///< from its epoch on
    std::string_view sender;  ///< of a message
    std::string_view client_msg_id;
  };

  /// `durable_first`: nobody is told of what is not durable.
  explicit Oracle(bool durable_first) : durable_first_(durable_first) {}

  [[nodiscard]] bool durable_first() const { return durable_first_; }

  void complain(std::string name, std::string what);
  [[nodiscard]] const std::optional<Violation>& violation() const { return violation_; }

  void acked(const Ack& ack);
  /// A repeat of it got an error instead of its ack.
  void refused(std::string_view conversation, std::string_view sender, std::string_view client_msg_id,
               std::string_view code);
  /// `reader`: visitors see notes otherwise than agents do.
  void seen(const Item& item, Role reader);
  /// A client was told that this item is no more.
  void undone(std::string_view conversation, uint64_t epoch, uint64_t seq);
  /// A client was told that there is no such conversation.
  void forgotten(std::string_view conversation);
  void assigned(std::string_view conversation, uint64_t epoch, uint64_t owner_epoch, std::string_view agent);

  /// An agent owns so many conversations. Of a torn write an assignment may survive and what made room for
  /// it, on another shard, may not: after a crash an agent may own more, over clean ends, too, until it was
  /// seen within its capacity.
  void owns(const std::string& agent, size_t conversations, uint32_t capacity);
  /// At rest.
  void within_capacity(const std::string& agent) { checked_.insert(agent); }

  /// The process has ended; what was acked as accepted only may be undone, unless the end was clean.
  void ended(bool clean);
  /// The highest number of a conversation that anybody was told in this life; 0: none.
  [[nodiscard]] uint64_t last_seq(std::string_view conversation) const;
  void note_last(std::string_view conversation, uint64_t seq);

  // -- at the end, when all of a conversation has been read from the first item on --

  /// One item of the reading, ascending; `expired` ones do not come.
  void read_again(const Item& item);
  /// Up to `last` nothing more comes; items up to `expired` are no longer kept.
  void read_all(std::string_view conversation, uint64_t expired, uint64_t last);

  [[nodiscard]] uint64_t durable_acks() const { return durable_acks_; }
  [[nodiscard]] uint64_t items() const { return items_seen_; }

 private:
  struct Send {
    uint64_t epoch = 0;
    uint64_t seq = 0;
    uint64_t ts = 0;
    uint64_t life = 0;  ///< in which it was acked last
    bool durable = false;
    bool note = false;  ///< shows to visitors as an event
  };
  using SendKey = std::pair<std::string, std::string>;  // sender, client_msg_id
  struct Place {
    uint64_t visitors = 0;  ///< hash of what was shown; 0: not seen
    uint64_t agents = 0;
    bool durable = false;
  };
  struct Conversation {
    std::map<SendKey, Send, std::less<>> sends;
    std::map<std::pair<uint64_t, uint64_t>, Place> places;
    std::map<std::pair<uint64_t, uint64_t>, std::string> owners;
    std::map<uint64_t, uint64_t> read;          ///< number, epoch
    std::map<SendKey, uint64_t> read_messages;  ///< number
    uint64_t last = 0;
    uint64_t last_life = 0;
  };

  [[nodiscard]] Conversation& conversation(std::string_view id);

  std::map<std::string, Conversation, std::less<>> conversations_;
  const bool durable_first_;
  std::optional<Violation> violation_;
  std::set<std::string> checked_;  ///< agents whose load was within their capacity since the last crash
  bool crashed_ = false;           ///< ever
  uint64_t life_ = 1;
  uint64_t durable_acks_ = 0;
  uint64_t items_seen_ = 0;
};

}  // namespace taut::sim
