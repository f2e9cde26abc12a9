// Each object is described once, in a put() over an abstract sink. One sink counts, the other writes, so the
// bound and the text cannot drift apart.
#include "wire/chat_writer.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "wire/json_escape.h"

namespace taut::wire {
namespace {

/// Digits of the largest 64-bit number.
constexpr size_t kNumberBytesMax = 20;

/// Adds up what a Writer would need.
class Counter {
 public:
  void literal(std::string_view text) { size_ += text.size(); }
  void plain(std::string_view text) { size_ += text.size() + 2; }
  void escaped(std::string_view text) { size_ += json_escaped_size(text) + 2; }
  void number(uint64_t) { size_ += kNumberBytesMax; }
  void rest_begins(ServerType) {}
  [[nodiscard]] size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

/// Writes into a span and ends the process rather than leave it.
class Writer {
 public:
  explicit Writer(std::span<char> out) : begin_(out.data()), at_(begin_), end_(begin_ + out.size()) {}

  void literal(std::string_view text) {
    TAUT_ASSERT(room() >= text.size());
    at_ = std::ranges::copy(text, at_).out;  // unlike memcpy it takes an empty view's null
  }
  void plain(std::string_view text) {
    TAUT_ASSERT(room() >= text.size() + 2);
    *at_++ = '"';
    at_ = std::ranges::copy(text, at_).out;
    *at_++ = '"';
  }
  void escaped(std::string_view text) {
    literal("\"");
    at_ = write_json_escaped({at_, end_}, text);
    literal("\"");
  }
  void number(uint64_t value) {
    const auto [end, error] = std::to_chars(at_, end_, value);
    TAUT_ASSERT(error == std::errc{});
    at_ = end;
  }
  void rest_begins(ServerType type) {
    type_ = type;
    rest_offset_ = offset();
  }

  [[nodiscard]] Written written() const {
    return {.size = offset(), .rest_offset = rest_offset_, .type = type_};
  }

 private:
  [[nodiscard]] size_t room() const { return static_cast<size_t>(end_ - at_); }
  [[nodiscard]] uint32_t offset() const { return static_cast<uint32_t>(at_ - begin_); }

  char* begin_;
  char* at_;
  char* end_;
  uint32_t rest_offset_ = 0;
  ServerType type_{};
};

// The vocabulary of the descriptions below. `field` is the text before the value: a comma, the quoted name, a
// colon.

template <class Sink>
void begin(Sink& sink, ServerType type, std::string_view type_and_comma, std::string_view conversation) {
  sink.literal(type_and_comma);
  sink.literal("\"conversation\":");
  sink.plain(conversation);
  sink.literal(",");
  sink.rest_begins(type);
}

template <class Sink>
void begin(Sink& sink, ServerType type, std::string_view type_and_comma) {
  sink.literal(type_and_comma);
  sink.rest_begins(type);
}

template <class Sink>
void number(Sink& sink, std::string_view field, uint64_t value) {
  sink.literal(field);
  sink.number(value);
}

/// A value that needs no escapes: an id or a word of the protocol.
template <class Sink>
void plain(Sink& sink, std::string_view field, std::string_view value) {
  sink.literal(field);
  sink.plain(value);
}

template <class Sink>
void escaped(Sink& sink, std::string_view field, std::string_view value) {
  sink.literal(field);
  sink.escaped(value);
}

template <class Sink>
void optional_plain(Sink& sink, std::string_view field, std::string_view value) {
  if (!value.empty()) plain(sink, field, value);
}

template <class Sink>
void optional_escaped(Sink& sink, std::string_view field, std::string_view value) {
  if (!value.empty()) escaped(sink, field, value);
}

template <class Sink>
void boolean(Sink& sink, std::string_view field, bool value) {
  sink.literal(field);
  sink.literal(value ? "true" : "false");
}

template <class Sink>
void party(Sink& sink, std::string_view field, const Party& value) {
  sink.literal(field);
  plain(sink, R"({"kind":)", name_of(value.kind));
  plain(sink, R"(,"id":)", value.id);
  optional_escaped(sink, R"(,"name":)", value.name);
  sink.literal("}");
}

// The objects.

template <class Sink>
void put(Sink& sink, const Welcome& m) {
  begin(sink, ServerType::welcome, R"({"type":"welcome",)");
  plain(sink, R"("id":)", m.id);
  plain(sink, R"(,"role":)", role_name(m.role));
  plain(sink, R"(,"mode":)", name_of(m.mode));
  number(sink, R"(,"ping_ms":)", m.ping_ms);
  number(sink, R"(,"max_text_bytes":)", m.max_text_bytes);
  number(sink, R"(,"max_inflight":)", m.max_inflight);
  number(sink, R"(,"server_time":)", m.server_time);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Opened& m) {
  begin(sink, ServerType::opened, R"({"type":"opened",)", m.conversation);
  number(sink, R"("ref":)", m.ref);
  number(sink, R"(,"epoch":)", m.epoch);
  number(sink, R"(,"seq":)", m.seq);
  plain(sink, R"(,"state":)", name_of(m.state));
  if (m.position != 0) number(sink, R"(,"position":)", m.position);
  if (m.has_eta) number(sink, R"(,"eta_ms":)", m.eta_ms);
  if (m.closed) boolean(sink, R"(,"open":)", false);
  if (m.opens_at != 0) number(sink, R"(,"opens_at":)", m.opens_at);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Ack& m) {
  begin(sink, ServerType::ack, R"({"type":"ack",)", m.conversation);
  number(sink, R"("ref":)", m.ref);
  plain(sink, R"(,"client_msg_id":)", m.client_msg_id);
  number(sink, R"(,"epoch":)", m.epoch);
  number(sink, R"(,"seq":)", m.seq);
  number(sink, R"(,"ts":)", m.ts);
  plain(sink, R"(,"level":)", name_of(m.level));
  sink.literal(m.dup ? R"(,"dup":true})" : "}");
}

template <class Sink>
void put(Sink& sink, const Message& m) {
  begin(sink, ServerType::message, R"({"type":"message",)", m.conversation);
  number(sink, R"("epoch":)", m.epoch);
  number(sink, R"(,"seq":)", m.seq);
  party(sink, R"(,"from":)", m.from);
  plain(sink, R"(,"client_msg_id":)", m.client_msg_id);
  plain(sink, R"(,"kind":)", name_of(m.kind));
  if (m.text_clean) {
    plain(sink, R"(,"text":)", m.text);
  } else {
    escaped(sink, R"(,"text":)", m.text);
  }
  number(sink, R"(,"ts":)", m.ts);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Event& m) {
  begin(sink, ServerType::event, R"({"type":"event",)", m.conversation);
  number(sink, R"("epoch":)", m.epoch);
  number(sink, R"(,"seq":)", m.seq);
  plain(sink, R"(,"event":)", name_of(m.event));
  optional_plain(sink, R"(,"agent":)", m.agent);
  optional_plain(sink, R"(,"group":)", m.group);
  optional_escaped(sink, R"(,"reason":)", m.reason);
  if (m.rating != 0) number(sink, R"(,"rating":)", m.rating);
  optional_escaped(sink, R"(,"text":)", m.text);
  number(sink, R"(,"owner_epoch":)", m.owner_epoch);
  number(sink, R"(,"ts":)", m.ts);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Assigned& m) {
  begin(sink, ServerType::assigned, R"({"type":"assigned",)", m.conversation);
  plain(sink, R"("visitor":{"id":)", m.visitor_id);
  optional_escaped(sink, R"(,"name":)", m.visitor_name);
  if (!m.visitor_attributes.empty()) {
    sink.literal(R"(,"attributes":)");
    sink.literal(m.visitor_attributes);
  }
  plain(sink, R"(},"group":)", m.group);
  optional_escaped(sink, R"(,"subject":)", m.subject);
  number(sink, R"(,"owner_epoch":)", m.owner_epoch);
  number(sink, R"(,"accept_ms":)", m.accept_ms);
  number(sink, R"(,"epoch":)", m.epoch);
  number(sink, R"(,"seq":)", m.seq);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Unassigned& m) {
  begin(sink, ServerType::unassigned, R"({"type":"unassigned",)", m.conversation);
  number(sink, R"("owner_epoch":)", m.owner_epoch);
  plain(sink, R"(,"reason":)", name_of(m.reason));
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Queue& m) {
  begin(sink, ServerType::queue, R"({"type":"queue",)", m.conversation);
  number(sink, R"("position":)", m.position);
  if (m.has_eta) number(sink, R"(,"eta_ms":)", m.eta_ms);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Typing& m) {
  begin(sink, ServerType::typing, R"({"type":"typing",)", m.conversation);
  party(sink, R"("from":)", m.from);
  boolean(sink, R"(,"on":)", m.on);
  number(sink, R"(,"ttl_ms":)", m.ttl_ms);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Receipt& m) {
  begin(sink, ServerType::receipt, R"({"type":"receipt",)", m.conversation);
  number(sink, R"("seq":)", m.seq);
  plain(sink, R"(,"level":)", name_of(m.level));
  party(sink, R"(,"by":)", m.by);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const HistoryBegin& m) {
  begin(sink, ServerType::history, R"({"type":"history",)", m.conversation);
  number(sink, R"("ref":)", m.ref);
  sink.literal(R"(,"items":[)");
}

template <class Sink>
void put(Sink& sink, const HistoryEnd& m) {
  boolean(sink, R"(],"more":)", m.more);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const ListBegin& m) {
  begin(sink, ServerType::list, R"({"type":"list",)");
  number(sink, R"("ref":)", m.ref);
  sink.literal(R"(,"conversations":[)");
}

template <class Sink>
void put(Sink& sink, const ListEntry& m) {
  plain(sink, R"({"conversation":)", m.conversation);
  plain(sink, R"(,"group":)", m.group);
  plain(sink, R"(,"state":)", name_of(m.state));
  plain(sink, R"(,"visitor":{"id":)", m.visitor_id);
  optional_escaped(sink, R"(,"name":)", m.visitor_name);
  sink.literal("}");
  optional_plain(sink, R"(,"agent":)", m.agent);
  number(sink, R"(,"owner_epoch":)", m.owner_epoch);
  number(sink, R"(,"epoch":)", m.epoch);
  number(sink, R"(,"seq":)", m.seq);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const ListEnd& m) {
  sink.literal("]");
  optional_escaped(sink, R"(,"cursor":)", m.cursor);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Resumed& m) {
  begin(sink, ServerType::resumed, R"({"type":"resumed",)", m.conversation);
  number(sink, R"("epoch":)", m.epoch);
  number(sink, R"(,"seq":)", m.seq);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Gap& m) {
  begin(sink, ServerType::gap, R"({"type":"gap",)", m.conversation);
  number(sink, R"("epoch":)", m.epoch);
  number(sink, R"(,"from":)", m.from);
  number(sink, R"(,"to":)", m.to);
  plain(sink, R"(,"reason":)", name_of(m.reason));
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Ok& m) {
  begin(sink, ServerType::ok, R"({"type":"ok",)");
  number(sink, R"("ref":)", m.ref);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Pong& m) {
  begin(sink, ServerType::pong, R"({"type":"pong",)");
  number(sink, R"("ref":)", m.ref);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Replies& m) {
  begin(sink, ServerType::replies, R"({"type":"replies",)");
  number(sink, R"("ref":)", m.ref);
  sink.literal(R"(,"replies":[)");
  bool first = true;
  for (const Reply& reply : m.replies) {
    escaped(sink, std::exchange(first, false) ? R"({"name":)" : R"(,{"name":)", reply.name);
    escaped(sink, R"(,"text":)", reply.text);
    sink.literal("}");
  }
  sink.literal("]}");
}

template <class Sink>
void put(Sink& sink, const ErrorMessage& m) {
  constexpr std::string_view kType = R"({"type":"error",)";
  if (m.conversation.empty()) {
    begin(sink, ServerType::error, kType);
  } else {
    begin(sink, ServerType::error, kType, m.conversation);
  }
  plain(sink, R"("code":)", name_of(m.code));
  if (m.has_ref) number(sink, R"(,"ref":)", m.ref);
  escaped(sink, R"(,"message":)", m.message);
  boolean(sink, R"(,"retryable":)", m.retryable);
  if (m.retry_after_ms != 0) number(sink, R"(,"retry_after_ms":)", m.retry_after_ms);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Bye& m) {
  begin(sink, ServerType::bye, R"({"type":"bye",)");
  number(sink, R"("code":)", static_cast<uint64_t>(m.code));
  escaped(sink, R"(,"reason":)", m.reason);
  if (m.retry_after_ms != 0) number(sink, R"(,"retry_after_ms":)", m.retry_after_ms);
  sink.literal("}");
}

template <class M>
size_t count(const M& m) noexcept {
  Counter counter;
  put(counter, m);
  return counter.size();
}

template <class M>
Written write_object(std::span<char> out, const M& m) noexcept {
  Writer writer(out);
  put(writer, m);
  return writer.written();
}

}  // namespace

#define TAUT_WIRE_WRITES(M)                                 \
  size_t max_size(const M& m) noexcept {                    \
    return count(m);                                        \
  }                                                         \
  Written write(std::span<char> out, const M& m) noexcept { \
    return write_object(out, m);                            \
  }

TAUT_WIRE_WRITES(Welcome)
TAUT_WIRE_WRITES(Opened)
TAUT_WIRE_WRITES(Ack)
TAUT_WIRE_WRITES(Message)
TAUT_WIRE_WRITES(Event)
TAUT_WIRE_WRITES(Assigned)
TAUT_WIRE_WRITES(Unassigned)
TAUT_WIRE_WRITES(Queue)
TAUT_WIRE_WRITES(Typing)
TAUT_WIRE_WRITES(Receipt)
TAUT_WIRE_WRITES(HistoryBegin)
TAUT_WIRE_WRITES(HistoryEnd)
TAUT_WIRE_WRITES(ListBegin)
TAUT_WIRE_WRITES(ListEntry)
TAUT_WIRE_WRITES(ListEnd)
TAUT_WIRE_WRITES(Resumed)
TAUT_WIRE_WRITES(Gap)
TAUT_WIRE_WRITES(Ok)
TAUT_WIRE_WRITES(Pong)
TAUT_WIRE_WRITES(Replies)
TAUT_WIRE_WRITES(ErrorMessage)
TAUT_WIRE_WRITES(Bye)

}  // namespace taut::wire
