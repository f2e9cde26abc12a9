// What a client is told (of sim/client.h).
#include <algorithm>
#include <string>

#include "sim/client.h"
#include "sim/json_field.h"
#include "wire/compact.h"

namespace taut::sim {

namespace {

constexpr uint32_t kBodyBytesMax = 1U << 20;

/// Of the objects in the array that begins here, each whole.
template <class F>
void for_each_object(std::string_view array, F&& f) {
  int depth = 0;
  size_t begin = 0;
  bool quoted = false;
  for (size_t i = 0; i < array.size(); ++i) {
    if (array[i] == '"') quoted = !quoted;
    if (quoted) continue;
    if (array[i] == ']' && depth == 0) return;
    if (array[i] == '{' && depth++ == 0) begin = i;
    if (array[i] == '}' && --depth == 0) f(array.substr(begin, i + 1 - begin));
  }
}

/// The same in every carrier and on every page: without type and conversation.
std::string_view from_epoch_on(std::string_view object) {
  const size_t at = object.find("\"epoch\":");
  return at == std::string_view::npos ? object : object.substr(at);
}

}  // namespace

bool Client::deliver_down(size_t most) {
  std::string& received = link_.received();
  const size_t before = received.size();
  if (!link_.receive_some(most)) {
    if (!link_.connected()) disconnected();
    return hangs_up();
  }
  heard_ns_ = clock_.mono_ns();
  for (size_t i = before; i < received.size(); ++i)
    hash_ = (hash_ ^ static_cast<unsigned char>(received[i])) * 0x100'0000'01B3ULL;
  size_t at = 0;
  for (;;) {
    const auto outcome = wire::next_netstring({received.data() + at, received.size() - at}, kBodyBytesMax);
    if (outcome.kind == wire::NetstringOutcome::Kind::need_more) break;
    if (outcome.kind == wire::NetstringOutcome::Kind::error) {
      oracle_.complain("frames are whole", name() + ": " + std::string(outcome.reason));
      break;
    }
    const auto body = wire::parse_compact_body({outcome.body.data(), outcome.body.size()});
    if (writes_down_)
      heard_ += "\n            " + name() + " hears " + std::string(outcome.body.begin(), outcome.body.end());
    if (body) told(static_cast<wire::ServerType>(body->type), body->conversation, body->payload);
    at += outcome.consumed;
  }
  received.erase(0, at);
  return true;
}

/// As the project's own client does.
bool Client::hangs_up() {
  const int64_t now_ns = clock_.mono_ns();
  if (!link_.connected() || now_ns - heard_ns_ < ping_ns_) return false;
  if (asked_ns_ <= heard_ns_) {
    asked_ns_ = now_ns;
    if (welcomed_) say(wire::ClientType::ping, {}, R"({"ref":0})");
    return false;
  }
  if (now_ns - asked_ns_ < ping_ns_ / 2) return false;
  if (writes_down_) heard_ += "\n            " + name() + " hears nothing any more, and hangs up";
  cut();
  return true;
}

void Client::judge(std::string_view conversation, std::string_view complaint) {
  if (complaint.empty()) return;
  oracle_.complain("readers get all in order",
                   name() + ", " + std::string(conversation) + ": " + std::string(complaint));
}

void Client::told_welcome(std::string_view object) {
  welcomed_ = true;
  ping_ns_ = static_cast<int64_t>(number_field(object, "ping_ms")) * 1'000'000;
  if (person_.role == Role::visitor) blocks_.let_in(person_.id, hello_);
}

void Client::told_bye(std::string_view object) {
  if (!welcomed_ && number_field(object, "code") == static_cast<uint64_t>(wire::CloseCode::blocked))
    blocks_.kept_out(person_.id, hello_);
}

void Client::told_opened(std::string_view conversation, std::string_view object) {
  const auto asked = waiting_opens_.find(static_cast<uint32_t>(number_field(object, "ref")));
  const uint64_t epoch = number_field(object, "epoch");
  const uint64_t seq = number_field(object, "seq");
  Topic& its = topic(conversation);
  its.closed = false;
  its.position = number_field(object, "position");
  // It stands for the first item alone; a reopening comes as an item.
  if (seq == 1) reader(conversation).own(epoch, 1);
  if (seq == 1 && asked != waiting_opens_.end()) {
    queues_.told({.conversation = conversation,
                  .epoch = epoch,
                  .seq = 1,
                  .name = "opened",
                  .group = asked->second,
                  .agent = {},
                  .opener = person_.id});
  }
  answered(object);
  oracle_.note_last(conversation, seq);
}

void Client::told_ok(std::string_view object) {
  const auto of_block = waiting_blocks_.find(static_cast<uint32_t>(number_field(object, "ref")));
  if (of_block != waiting_blocks_.end()) blocks_.answered(of_block->second);
  answered(object);
}

/// Answers to a request carry its ref.
void Client::answered(std::string_view object) {
  const auto ref = static_cast<uint32_t>(number_field(object, "ref"));
  if (waiting_.erase(ref) == 0)
    oracle_.complain("every request is answered once", name() + ": " + std::string(object));
  waiting_sends_.erase(ref);
  waiting_pages_.erase(ref);
  waiting_blocks_.erase(ref);
  waiting_opens_.erase(ref);
}

void Client::told(wire::ServerType type, std::string_view conversation, std::string_view object) {
  switch (type) {
    case wire::ServerType::welcome:
      return told_welcome(object);
    case wire::ServerType::opened:
      return told_opened(conversation, object);
    case wire::ServerType::ack:
      return told_ack(conversation, object);
    case wire::ServerType::message:
    case wire::ServerType::event:
      return told_item(conversation, object, type == wire::ServerType::message, true);
    case wire::ServerType::assigned:
      return told_assigned(conversation, object);
    case wire::ServerType::unassigned:
      return told_unassigned(conversation, object);
    case wire::ServerType::history:
      return told_history(conversation, object);
    case wire::ServerType::list:
      return told_list(object);
    case wire::ServerType::resumed:
      return told_resumed(conversation, object);
    case wire::ServerType::gap:
      return told_gap(conversation, object);
    case wire::ServerType::ok:
      return told_ok(object);
    case wire::ServerType::error:
      return told_error(conversation, object);
    case wire::ServerType::receipt:
      if (text_field(field(object, "by"), "id").empty())
        oracle_.complain("receipts say whose they are", name() + ": " + std::string(object));
      return;
    case wire::ServerType::bye:
      return told_bye(object);
    case wire::ServerType::pong:  // that it heard it is all
      return;
    case wire::ServerType::queue:
      topic(conversation).position = number_field(object, "position");
      return;
    case wire::ServerType::typing:
    case wire::ServerType::replies:
      return;
  }
  // The server pings in this carrier with the client's own ping.
  if (static_cast<wire::ClientType>(type) == wire::ClientType::ping)
    return say(static_cast<wire::ClientType>(wire::ServerType::pong), {}, R"({"ref":0})");
  oracle_.complain("frames are whole",
                   name() + " got a frame of type " + std::to_string(static_cast<int>(type)));
}

void Client::told_item(std::string_view conversation, std::string_view object, bool message, bool pushed) {
  const uint64_t epoch = number_field(object, "epoch");
  const uint64_t seq = number_field(object, "seq");
  const std::string_view from = field(object, "from");
  const std::string author =
      message ? std::string(text_field(from, "kind")) + " " + std::string(text_field(from, "id"))
              : std::string();
  const std::string_view event = message ? std::string_view() : text_field(object, "event");
  const Oracle::Item item{
      .conversation = conversation,
      .epoch = epoch,
      .seq = seq,
      .object = from_epoch_on(object),
      .sender = author,
      .client_msg_id = message ? text_field(object, "client_msg_id") : std::string_view()};
  oracle_.seen(item, person_.role);
  queues_.told({.conversation = conversation,
                .epoch = epoch,
                .seq = seq,
                .name = event,
                .group = message ? std::string_view() : text_field(object, "group"),
                .agent = message ? std::string_view() : text_field(object, "agent")});
  if (last_reading_) oracle_.read_again(item);
  if (!pushed) return;
  Topic& its = topic(conversation);
  if (person_.role == Role::agent && !its.attached)
    oracle_.complain("pushes reach the owner only", name() + " does not own " + std::string(conversation));
  judge(conversation, reader(conversation).item(epoch, seq));
  if (event == "closed") its.closed = true;
  if (event == "reopened" || event == "opened") its.closed = false;
}

Client::Sent* Client::sent_as(std::string_view conversation, std::string_view client_msg_id) {
  const auto found = std::ranges::find_if(sent_, [&](const Sent& sent) {
    return sent.conversation == conversation && sent.client_msg_id == client_msg_id;
  });
  return found == sent_.end() ? nullptr : &*found;
}

void Client::told_ack(std::string_view conversation, std::string_view object) {
  const std::string_view id = text_field(object, "client_msg_id");
  const bool durable = text_field(object, "level") == "durable";
  const bool dup = flag_field(object, "dup");
  const uint64_t epoch = number_field(object, "epoch");
  const uint64_t seq = number_field(object, "seq");
  Sent* sent = sent_as(conversation, id);
  if (!durable) {
    answered(object);
    acked_here_.insert(std::string(id));
    const bool pushed_to = person_.role == Role::visitor || topic(conversation).attached;
    if (!dup && pushed_to) reader(conversation).own(epoch, seq);
  }
  if (sent != nullptr && (durable || sent->state == AckState::none))
    sent->state = durable ? AckState::durable : AckState::accepted;
  oracle_.acked({.conversation = conversation,
                 .sender = sender(),
                 .client_msg_id = id,
                 .epoch = epoch,
                 .seq = seq,
                 .ts = number_field(object, "ts"),
                 .dup = dup,
                 .durable = durable,
                 .note = notes_.contains(id)});
}

void Client::told_error(std::string_view conversation, std::string_view object) {
  const auto ref = static_cast<uint32_t>(number_field(object, "ref"));
  if (ref == 0) return;
  const std::string_view code = text_field(object, "code");
  const auto of_send = waiting_sends_.find(ref);
  if (of_send != waiting_sends_.end()) {
    const std::string id = of_send->second;
    if (!flag_field(object, "retryable")) {
      oracle_.refused(conversation, sender(), id, code);
      std::erase_if(sent_, [&](const Sent& sent) {
        return sent.client_msg_id == id && sent.conversation == conversation && sent.state == AckState::none;
      });
    }
  }
  answered(object);
}

void Client::told_gap(std::string_view conversation, std::string_view object) {
  const std::string_view reason = text_field(object, "reason");
  Reader& known = reader(conversation);
  if (reason == "no_such_conversation") {
    readers_.erase(std::string(conversation));
    topics_.erase(std::string(conversation));
    return oracle_.forgotten(conversation);
  }
  const uint64_t from = number_field(object, "from");
  const uint64_t to = number_field(object, "to");
  if (reason == "expired") {
    topic(conversation).expired = to;
    queues_.incomplete(conversation);
    return judge(conversation, known.gap_expired(from, to));
  }
  if (reason != "ahead") return judge(conversation, "a gap of an epoch that it was told of");
  for (uint64_t seq = from; seq <= known.seq(); ++seq) oracle_.undone(conversation, known.epoch_at(seq), seq);
  judge(conversation, known.gap_back(number_field(object, "epoch"), from, to));
}

void Client::told_resumed(std::string_view conversation, std::string_view object) {
  const uint64_t seq = number_field(object, "seq");
  topic(conversation).last = seq;
  oracle_.note_last(conversation, seq);
  judge(conversation, reader(conversation).resumed(number_field(object, "epoch"), seq));
}

void Client::told_assigned(std::string_view conversation, std::string_view object) {
  Topic& its = topic(conversation);
  const uint64_t epoch = number_field(object, "epoch");
  const uint64_t seq = number_field(object, "seq");
  its.attached = true;
  its.closed = false;
  its.owner_epoch = number_field(object, "owner_epoch");
  its.accepted = number_field(object, "accept_ms") == 0;
  visitors_[std::string(conversation)] = text_field(field(object, "visitor"), "id");
  oracle_.assigned(conversation, epoch, its.owner_epoch, person_.id);
  oracle_.note_last(conversation, seq);
  Reader& known = reader(conversation);
  if (!known.resuming()) {
    known.forget();
    known.stand_at(epoch, seq);
  }
  oracle_.owns(person_.id, owned(), person_.capacity);
}

void Client::told_unassigned(std::string_view conversation, std::string_view /*object*/) {
  Topic& its = topic(conversation);
  its.attached = false;
  its.accepted = false;
  reader(conversation).forget();
}

void Client::told_history(std::string_view conversation, std::string_view object) {
  const auto asked = waiting_pages_.find(static_cast<uint32_t>(number_field(object, "ref")));
  const uint64_t asked_before = asked == waiting_pages_.end() ? 0 : asked->second;
  answered(object);
  uint64_t first = 0;
  uint64_t last = 0;
  for_each_object(field(object, "items").substr(1), [&](std::string_view item) {
    const uint64_t seq = number_field(item, "seq");
    if (last != 0 && seq != last + 1)
      judge(conversation, "history goes from " + std::to_string(last) + " to " + std::to_string(seq));
    if (first == 0) first = seq;
    last = seq;
    told_item(conversation, item, text_field(item, "type") == "message", false);
  });
  judge_page(conversation, asked_before, first, last, flag_field(object, "more"));
}

/// Memory's part and the store's follow one another without a hole, down to the first item.
void Client::judge_page(std::string_view conversation, uint64_t asked_before, uint64_t first, uint64_t last,
                        bool more) {
  Topic& its = topic(conversation);
  const std::string page =
      "a page of history from " + std::to_string(first) + " to " + std::to_string(last) + " ";
  if (asked_before != 0 && last + 1 != asked_before)
    judge(conversation, page + "where that before " + std::to_string(asked_before) + " was asked for");
  if (more != (first > 1)) judge(conversation, page + (more ? "says that there is more" : "is the last one"));
  const Reader& known = reader(conversation);
  const bool follows = person_.role == Role::visitor || its.attached;
  if (asked_before == 0 && follows && known.anchored() && !known.resuming() && last < known.seq())
    judge(conversation, page + "though it was told of " + std::to_string(known.seq()));
  its.before = more ? first : 0;
  if (last_reading_ && last == its.expired) its.expired = first - 1;
}

void Client::told_list(std::string_view object) {
  answered(object);
  seen_waiting_.clear();
  for_each_object(field(object, "conversations").substr(1), [&](std::string_view entry) {
    if (text_field(entry, "state") == "queued" || text_field(entry, "state") == "assigned")
      seen_waiting_.emplace_back(text_field(entry, "conversation"));
  });
}

}  // namespace taut::sim
