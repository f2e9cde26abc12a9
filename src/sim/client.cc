// What a client says (of sim/client.h).
#include "sim/client.h"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/netstring.h"

namespace taut::sim {

namespace {

/// Conversations that a visitor opens; then it opens those again.
constexpr size_t kConversationsMax = 24;
/// Messages that a client remembers to repeat.
constexpr size_t kSentMax = 64;
/// Until the server says how often it pings.
constexpr int64_t kUntoldPingNs = 5'000'000'000;

std::string quoted(std::string_view name, std::string_view value) {
  return "\"" + std::string(name) + "\":\"" + std::string(value) + "\"";
}

std::string counted(std::string_view name, uint64_t value) {
  return "\"" + std::string(name) + "\":" + std::to_string(value);
}

}  // namespace

Client::Client(Person person, std::vector<std::string> groups, const Surroundings& surroundings)
    : person_(std::move(person)),
      groups_(std::move(groups)),
      clock_(surroundings.clock),
      oracle_(surroundings.oracle),
      blocks_(surroundings.blocks),
      queues_(surroundings.queues),
      hash_(surroundings.hash) {}

std::string Client::sender() const {
  return std::string(role_name(person_.role)) + " " + person_.id;
}

Reader& Client::reader(std::string_view conversation) {
  const auto found = readers_.find(conversation);
  return found != readers_.end() ? found->second : readers_[std::string(conversation)];
}

Client::Topic& Client::topic(std::string_view conversation) {
  const auto found = topics_.find(conversation);
  return found != topics_.end() ? found->second : topics_[std::string(conversation)];
}

// -- the connection --

bool Client::connect(const Address& address, bool from_the_beginning) {
  if (link_.connected() || !link_.connect(address)) return false;
  welcomed_ = false;
  last_reading_ = from_the_beginning;
  hello_ = blocks_.now();
  ping_ns_ = kUntoldPingNs;
  heard_ns_ = clock_.mono_ns();
  say(wire::ClientType::hello, {}, say_hello_payload(from_the_beginning));
  return true;
}

std::string Client::say_hello_payload(bool from_the_beginning) {
  const bool visitor = person_.role == Role::visitor;
  std::string resume;
  for (auto& [conversation, known] : readers_) {
    if (from_the_beginning) known.forget();
    // An agent asks for what it owned when the connection went.
    if (!from_the_beginning && (!known.anchored() || (!visitor && !topic(conversation).attached))) continue;
    if (!visitor && from_the_beginning) continue;
    resume += (resume.empty() ? "{" : ",{") + quoted("conversation", conversation) + "," +
              counted("epoch", known.epoch()) + "," + counted("seq", known.seq()) + "}";
    known.ask_to_resume();
  }
  for (auto& [conversation, its] : topics_) {
    its.attached = false;
    its.before = 0;
  }
  return "{" + counted("version", wire::kChatVersion) + "," + quoted("role", role_name(person_.role)) + "," +
         quoted("site", "demo") + "," + quoted("device", person_.device) + "," +
         quoted("token", person_.token) + (resume.empty() ? "" : ",\"resume\":[" + resume + "]") + "}";
}

void Client::disconnected() {
  welcomed_ = false;
  waiting_.clear();
  waiting_sends_.clear();
  waiting_pages_.clear();
  waiting_blocks_.clear();
  for (const auto& [ref, group] : waiting_opens_) queues_.unanswered(person_.id, group);
  waiting_opens_.clear();
  for (auto& [conversation, its] : topics_) its.position = 0;
  acked_here_.clear();
  for (auto& [conversation, known] : readers_) known.disconnected();
}

void Client::cut() {
  link_.cut();
  disconnected();
}

void Client::half_open() {
  link_.half_open();
  disconnected();
}

uint32_t Client::next_ref(wire::ClientType type) {
  waiting_[++last_ref_] = type;
  return last_ref_;
}

void Client::say(wire::ClientType type, std::string_view conversation, std::string_view payload) {
  std::string body = std::to_string(static_cast<int>(type)) + ":" + std::string(conversation) + ":";
  body.append(payload);
  std::string frame(wire::netstring_size(body.size()), '\0');
  wire::write_netstring(frame, body);
  link_.say(frame);
}

std::string Client::request(wire::ClientType type, const std::string* conversation, std::string_view fields) {
  if (conversation == nullptr) return {};
  std::string payload = "{" + counted("ref", next_ref(type));
  if (!fields.empty()) payload.append(",").append(fields);
  say(type, *conversation, payload + "}");
  return std::string(wire::name_of(type)) + " " + *conversation + " " + std::string(fields);
}

// -- what it says --

const std::string* Client::any(Dice& dice, bool closed, bool attached_only) const {
  std::vector<const std::string*> fitting;
  for (const auto& [conversation, its] : topics_) {
    if (its.closed == closed && (its.attached || !attached_only)) fitting.push_back(&conversation);
  }
  return fitting.empty() ? nullptr : dice.pick(fitting);
}

std::string Client::act(ActionKind kind, Dice& dice, const std::vector<std::string>& agents) {
  const bool visitor = person_.role == Role::visitor;
  if (!live()) return {};
  switch (kind) {
    case ActionKind::open:
      return visitor ? open(dice) : std::string();
    case ActionKind::send:
      return send(dice);
    case ActionKind::repeat:
      return repeat(dice);
    case ActionKind::typing: {
      const std::string* conversation = any(dice, false, !visitor);
      if (conversation == nullptr) return {};
      say(wire::ClientType::typing, *conversation, dice.one_in(3) ? R"({"on":false})" : R"({"on":true})");
      return "typing " + *conversation;
    }
    case ActionKind::mark:
      return mark(dice);
    case ActionKind::close:
      return request(wire::ClientType::close, any(dice, false, !visitor), {});
    case ActionKind::rate:
      if (!visitor) return {};
      return request(wire::ClientType::rate, any(dice, true, false), counted("rating", 1 + dice.below(5)));
    case ActionKind::presence:
      return visitor ? std::string() : presence(dice);
    case ActionKind::answer_offer:
      return visitor ? std::string() : answer_offer(dice);
    case ActionKind::take:
      return visitor ? std::string() : take(dice);
    case ActionKind::transfer:
      return visitor ? std::string() : transfer(dice, agents);
    case ActionKind::history:
      return history(dice);
    case ActionKind::block:
      return visitor ? std::string() : block(dice);
    case ActionKind::list: {
      if (visitor) return {};
      const std::string everything;
      return request(wire::ClientType::list, &everything, quoted("scope", "all"));
    }
    default:
      return {};
  }
}

std::string Client::open(Dice& dice) {
  const std::string nothing;
  const std::string& group = dice.pick(groups_);
  if (topics_.size() < kConversationsMax && !dice.one_in(3)) {
    std::string said = request(wire::ClientType::open, &nothing, quoted("group", group));
    waiting_opens_[last_ref_] = group;
    return said;
  }
  const std::string* closed = any(dice, true, false);
  if (closed == nullptr) return {};
  return request(wire::ClientType::open, closed, {});
}

void Client::say_send(Sent& sent) {
  const uint32_t ref = next_ref(wire::ClientType::send);
  waiting_sends_[ref] = sent.client_msg_id;
  say(wire::ClientType::send, sent.conversation,
      sent.client_msg_id + " " + std::to_string(ref) + (sent.note ? " note\n" : " text\n") + sent.text);
}

std::string Client::send(Dice& dice) {
  const bool visitor = person_.role == Role::visitor;
  const bool note = !visitor && dice.one_in(8);
  const std::string* conversation = any(dice, dice.one_in(20), !visitor);
  if (conversation == nullptr) return {};
  if (sent_.size() >= kSentMax) sent_.erase(sent_.begin());
  Sent& sent = sent_.emplace_back(Sent{.conversation = *conversation,
                                       .client_msg_id = person_.device + "-" + std::to_string(++messages_),
                                       .text = std::string(1 + dice.below(dice.one_in(20) ? 400 : 40),
                                                           static_cast<char>('a' + dice.below(26))),
                                       .note = note});
  if (note) notes_.insert(sent.client_msg_id);
  say_send(sent);
  return "send " + sent.client_msg_id + (note ? ", a note, in " : " in ") + *conversation;
}

std::string Client::repeat(Dice& dice) {
  std::vector<Sent*> fitting;
  const bool any_of_them = dice.one_in(4);
  for (Sent& sent : sent_) {
    const bool may_say = person_.role == Role::visitor || topic(sent.conversation).attached;
    if (may_say && (any_of_them || sent.state != AckState::durable)) fitting.push_back(&sent);
  }
  if (fitting.empty()) return {};
  Sent& sent = *dice.pick(fitting);
  say_send(sent);
  return "send " + sent.client_msg_id + " again in " + sent.conversation;
}

std::string Client::mark(Dice& dice) {
  const std::string* conversation = any(dice, dice.one_in(5), person_.role == Role::agent);
  if (conversation == nullptr) return {};
  const uint64_t seq = reader(*conversation).seq();
  if (seq == 0) return {};
  const auto type = dice.one_in(2) ? wire::ClientType::read : wire::ClientType::delivered;
  const uint64_t up_to = seq - dice.below(std::min<uint64_t>(seq, 3));
  say(type, *conversation, "{" + counted("seq", up_to) + "}");
  return std::string(wire::name_of(type)) + " " + *conversation + " up to " + std::to_string(up_to);
}

std::string Client::presence(Dice& dice) {
  constexpr std::array<std::string_view, 8> kStatus{"online", "online", "online", "online",
                                                    "online", "busy",   "away",   "offline"};
  std::string fields = quoted("status", kStatus[dice.below(kStatus.size())]);
  if (dice.one_in(4)) fields += "," + counted("capacity", dice.below(person_.capacity + 2));
  const std::string nothing;
  return request(wire::ClientType::presence, &nothing, fields);
}

std::string Client::answer_offer(Dice& dice) {
  std::vector<const std::string*> offers;
  for (const auto& [conversation, its] : topics_) {
    if (its.attached && !its.accepted) offers.push_back(&conversation);
  }
  if (offers.empty()) return {};
  const std::string* conversation = dice.pick(offers);
  if (dice.one_in(4)) return request(wire::ClientType::decline, conversation, {});
  topic(*conversation).accepted = true;
  return request(wire::ClientType::accept, conversation, {});
}

/// From the end, or on from where the last page began.
std::string Client::history(Dice& dice) {
  const std::string* conversation = any(dice, dice.one_in(3), false);
  if (conversation == nullptr) return {};
  const uint64_t before = dice.one_in(3) ? 0 : topic(*conversation).before;
  std::string fields = counted("limit", 1 + dice.below(30));
  if (before != 0) fields += "," + counted("before", before);
  std::string said = request(wire::ClientType::history, conversation, fields);
  waiting_pages_[last_ref_] = before;
  return said;
}

bool Client::ask_older() {
  if (!live()) return false;
  for (const auto& [conversation, its] : topics_) {
    if (its.expired == 0) continue;
    static_cast<void>(request(wire::ClientType::history, &conversation,
                              counted("limit", 200) + "," + counted("before", its.expired + 1)));
    waiting_pages_[last_ref_] = its.expired + 1;
    return true;
  }
  return false;
}

std::string Client::take(Dice& dice) {
  if (seen_waiting_.empty()) return {};
  const std::string conversation = dice.pick(seen_waiting_);
  queues_.asks_for(conversation, person_.id);
  return request(wire::ClientType::take, &conversation, {});
}

std::string Client::block(Dice& dice) {
  const std::string* conversation = any(dice, false, true);
  if (conversation == nullptr) return {};
  const auto seconds = static_cast<uint32_t>(1 + dice.below(kBlockSecondsMax));
  std::string said = request(wire::ClientType::block, conversation, counted("seconds", seconds));
  waiting_blocks_.emplace(last_ref_, blocks_.asked(visitors_[*conversation], seconds));
  return said;
}

std::string Client::transfer(Dice& dice, const std::vector<std::string>& agents) {
  const std::string* conversation = any(dice, false, true);
  const std::string to =
      dice.one_in(3) ? quoted("group", dice.pick(groups_)) : quoted("agent", dice.pick(agents));
  return request(wire::ClientType::transfer, conversation, "\"to\":{" + to + "}");
}

size_t Client::owned() const {
  return static_cast<size_t>(
      std::ranges::count_if(topics_, [](const auto& its) { return its.second.attached; }));
}

// -- at rest --

void Client::check_at_rest() const {
  if (!live()) return;
  if (person_.role == Role::visitor) blocks_.has_connection(person_.id);
  if (person_.role == Role::agent && owned() <= person_.capacity) oracle_.within_capacity(person_.id);
  for (const auto& [ref, type] : waiting_) {
    return oracle_.complain("every request is answered", name() + "'s " + std::string(wire::name_of(type)) +
                                                             " " + std::to_string(ref) + " is not");
  }
  for (const Sent& sent : sent_) {
    if (sent.state == AckState::accepted && acked_here_.contains(sent.client_msg_id)) {
      return oracle_.complain("every durable ack comes",
                              name() + "'s " + sent.client_msg_id + " in " + sent.conversation + " has none");
    }
  }
  for (const auto& [conversation, known] : readers_) {
    const auto its = topics_.find(conversation);
    const bool owns = its != topics_.end() && its->second.attached;
    if ((person_.role == Role::agent && !owns) || !known.anchored()) continue;
    if (!known.complete() || known.seq() != oracle_.last_seq(conversation)) {
      return oracle_.complain("readers see all", name() + " has " + conversation + " up to " +
                                                     std::to_string(known.seq()) + " of " +
                                                     std::to_string(oracle_.last_seq(conversation)));
    }
    if (person_.role == Role::visitor) queues_.known(conversation, known, its->second.position);
  }
}

void Client::know(const std::string& conversation) {
  readers_.try_emplace(conversation);
  topics_.try_emplace(conversation);
}

void Client::finish_last_reading() {
  for (const auto& [conversation, its] : topics_) oracle_.read_all(conversation, its.expired, its.last);
}

}  // namespace taut::sim
