// One device of a visitor or an agent: it says what a step asks for, and judges all that it is told.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/identity.h"
#include "sim/action.h"
#include "sim/blocks.h"
#include "sim/dice.h"
#include "sim/link.h"
#include "sim/oracle.h"
#include "sim/queues.h"
#include "sim/reader.h"
#include "sim/sim_clock.h"
#include "wire/chat_codes.h"

namespace taut::sim {

/// Who it is.
struct Person {
  Role role = Role::visitor;
  std::string id;
  std::string device;
  std::string token;
  uint32_t capacity = 0;  ///< agents: conversations at once, at most
};

/// What all clients of a world share.
struct Surroundings {
  SimClock& clock;
  Oracle& oracle;
  Blocks& blocks;
  Queues& queues;
  uint64_t& hash;  ///< takes all that anybody is told
};

/// Speaks the compact carrier. It keeps across connections what a good client keeps: a cursor for each
/// conversation, and the messages that are not durable yet, which it sends again under the same
/// client_msg_id. An agent speaks only where it has been told that it owns the conversation. Where it hears
/// nothing for longer than the server is ever silent, it asks, and then hangs up. One thread.
class Client {
 public:
  /// The surroundings outlive it.
  Client(Person person, std::vector<std::string> groups, const Surroundings& surroundings);

  [[nodiscard]] const Person& person() const { return person_; }
  [[nodiscard]] std::string name() const { return person_.id + "/" + person_.device; }
  /// Who answered its hello.
  [[nodiscard]] bool live() const { return link_.connected() && welcomed_; }
  [[nodiscard]] bool connected() const { return link_.connected(); }
  [[nodiscard]] const std::map<std::string, Reader, std::less<>>& readers() const { return readers_; }

  /// Connects and says hello with the cursor of each conversation, or from the first item on.
  bool connect(const Address& address, bool from_the_beginning = false);
  bool deliver_up(size_t most) { return link_.send_some(most); }
  /// True: it heard something, or hung up.
  bool deliver_down(size_t most);
  /// What it was told since the last call, if it writes it down.
  [[nodiscard]] std::string take_heard() { return std::exchange(heard_, {}); }
  void write_down_what_it_hears() { writes_down_ = true; }
  void cut();
  void half_open();
  void forget_half_open() { link_.forget_half_open(); }
  void die(Direction direction) { link_.die(direction); }
  [[nodiscard]] bool is_dying() { return link_.is_dying(); }

  /// Does it, and answers what it did in words; empty: it has no occasion.
  [[nodiscard]] std::string act(ActionKind kind, Dice& dice, const std::vector<std::string>& agents);

  /// All is at rest and nothing fails: every request was answered, every ack that is due has come.
  void check_at_rest() const;
  /// How many conversations it owns at this moment, as far as it knows.
  [[nodiscard]] size_t owned() const;

  /// Of a conversation of its own that somebody else was told of.
  void know(const std::string& conversation);
  /// Agents: whose a conversation is that it was assigned, as it was told then; by id.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& visitors() const { return visitors_; }
  /// After connect(…, true) and a rest: asks for the next page of what memory no longer keeps. False: it has
  /// read all of that.
  [[nodiscard]] bool ask_older();
  /// Then: tells the oracle that each conversation has been read.
  void finish_last_reading();

 private:
  enum class AckState : uint8_t { none, accepted, durable };
  struct Sent {
    std::string conversation;
    std::string client_msg_id;
    std::string text;
    bool note = false;
    AckState state = AckState::none;
  };
  struct Topic {
    uint64_t last = 0;     ///< told as the end of a resume
    uint64_t expired = 0;  ///< no longer kept up to this one, but by the history
    uint64_t before = 0;   ///< the first item of the last page of history; 0: there is no more
    uint64_t owner_epoch = 0;
    bool attached = false;  ///< agents: owned, as far as this connection was told
    bool accepted = false;  ///< agents: the offer was answered
    bool closed = false;
    uint64_t position = 0;  ///< in the queue, as last told; 0: not on this connection
  };

  // saying
  uint32_t next_ref(wire::ClientType type);
  void say(wire::ClientType type, std::string_view conversation, std::string_view payload);
  void say_send(Sent& sent);
  [[nodiscard]] std::string say_hello_payload(bool from_the_beginning);
  [[nodiscard]] const std::string* any(Dice& dice, bool closed, bool attached_only) const;
  [[nodiscard]] std::string open(Dice& dice);
  [[nodiscard]] std::string send(Dice& dice);
  [[nodiscard]] std::string repeat(Dice& dice);
  [[nodiscard]] std::string mark(Dice& dice);
  [[nodiscard]] std::string presence(Dice& dice);
  [[nodiscard]] std::string answer_offer(Dice& dice);
  [[nodiscard]] std::string request(wire::ClientType type, const std::string* conversation,
                                    std::string_view fields);
  [[nodiscard]] std::string history(Dice& dice);
  [[nodiscard]] std::string take(Dice& dice);
  [[nodiscard]] std::string block(Dice& dice);
  [[nodiscard]] std::string transfer(Dice& dice, const std::vector<std::string>& agents);

  // being told
  [[nodiscard]] bool hangs_up();
  void disconnected();
  void told(wire::ServerType type, std::string_view conversation, std::string_view object);
  void told_item(std::string_view conversation, std::string_view object, bool message, bool pushed);
  void told_ack(std::string_view conversation, std::string_view object);
  void told_error(std::string_view conversation, std::string_view object);
  void told_gap(std::string_view conversation, std::string_view object);
  void told_resumed(std::string_view conversation, std::string_view object);
  void told_assigned(std::string_view conversation, std::string_view object);
  void told_unassigned(std::string_view conversation, std::string_view object);
  void told_history(std::string_view conversation, std::string_view object);
  void judge_page(std::string_view conversation, uint64_t asked_before, uint64_t first, uint64_t last,
                  bool more);
  void told_list(std::string_view object);
  void told_welcome(std::string_view object);
  void told_opened(std::string_view conversation, std::string_view object);
  void told_ok(std::string_view object);
  void told_bye(std::string_view object);
  void answered(std::string_view object);
  void judge(std::string_view conversation, std::string_view complaint);
  [[nodiscard]] std::string sender() const;
  [[nodiscard]] Sent* sent_as(std::string_view conversation, std::string_view client_msg_id);
  [[nodiscard]] Reader& reader(std::string_view conversation);
  [[nodiscard]] Topic& topic(std::string_view conversation);

  const Person person_;
  const std::vector<std::string> groups_;
  SimClock& clock_;
  Oracle& oracle_;
  Blocks& blocks_;
  Queues& queues_;
  uint64_t& hash_;
  Link link_;
  bool writes_down_ = false;
  std::string heard_;
  bool welcomed_ = false;
  int64_t ping_ns_ = 0;   ///< as `welcome` says
  int64_t heard_ns_ = 0;  ///< when it heard something, or connected
  int64_t asked_ns_ = 0;  ///< when it asked whether there is anybody
  Blocks::Moment hello_;  ///< of this connection
  bool last_reading_ = false;
  std::map<std::string, Reader, std::less<>> readers_;
  std::map<std::string, Topic, std::less<>> topics_;
  std::map<std::string, std::string, std::less<>> visitors_;
  std::set<std::string, std::less<>> notes_;       ///< client_msg_id of every note
  std::vector<Sent> sent_;                         ///< the latest
  std::map<uint32_t, wire::ClientType> waiting_;   ///< requests without an answer, by ref
  std::map<uint32_t, std::string> waiting_sends_;  ///< client_msg_id
  std::map<uint32_t, uint64_t> waiting_pages_;  ///< the item before which history was asked for; 0: the end
  std::map<uint32_t, Blocks::Order> waiting_blocks_;
  std::map<uint32_t, std::string> waiting_opens_;  ///< the group
  std::set<std::string, std::less<>> acked_here_;  ///< accepted on this connection, client_msg_id
  std::vector<std::string> seen_waiting_;          ///< agents: conversations in the last list
  uint32_t last_ref_ = 0;
  uint64_t messages_ = 0;
};

}  // namespace taut::sim
