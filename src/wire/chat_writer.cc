// Each object is described once, in a put() over an abstract sink (wire/json_sink.h).
#include "wire/chat_writer.h"

#include <array>
#include <utility>

#include "wire/json_sink.h"

namespace taut::wire {
namespace {

class Counter : public json::Counter {
 public:
  void rest_begins(ServerType) {}
};

class Writer : public json::Writer {
 public:
  using json::Writer::Writer;

  void rest_begins(ServerType type) {
    type_ = type;
    rest_offset_ = size();
  }
  [[nodiscard]] Written written() const {
    return {.size = size(), .rest_offset = rest_offset_, .type = type_};
  }

 private:
  uint32_t rest_offset_ = 0;
  ServerType type_{};
};

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
  optional_raw(sink, R"(,"attributes":)", m.visitor_attributes);
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

#define TAUT_WIRE_WRITE(M)                                  \
  size_t max_size(const M& m) noexcept {                    \
    return count(m);                                        \
  }                                                         \
  Written write(std::span<char> out, const M& m) noexcept { \
    return write_object(out, m);                            \
  }

TAUT_WIRE_WRITE(Welcome)
TAUT_WIRE_WRITE(Opened)
TAUT_WIRE_WRITE(Ack)
TAUT_WIRE_WRITE(Message)
TAUT_WIRE_WRITE(Event)
TAUT_WIRE_WRITE(Assigned)
TAUT_WIRE_WRITE(Unassigned)
TAUT_WIRE_WRITE(Queue)
TAUT_WIRE_WRITE(Typing)
TAUT_WIRE_WRITE(Receipt)
TAUT_WIRE_WRITE(HistoryBegin)
TAUT_WIRE_WRITE(HistoryEnd)
TAUT_WIRE_WRITE(ListBegin)
TAUT_WIRE_WRITE(ListEntry)
TAUT_WIRE_WRITE(ListEnd)
TAUT_WIRE_WRITE(Resumed)
TAUT_WIRE_WRITE(Gap)
TAUT_WIRE_WRITE(Ok)
TAUT_WIRE_WRITE(Pong)
TAUT_WIRE_WRITE(Replies)
TAUT_WIRE_WRITE(ErrorMessage)
TAUT_WIRE_WRITE(Bye)

uint32_t rest_offset_of(std::string_view json, ServerType type, std::string_view conversation) noexcept {
  std::array<char, kIdBytesMax + 64> room;
  Writer beginning(room);
  beginning.literal(R"({"type":")");
  beginning.literal(name_of(type));
  begin(beginning, type, R"(",)", conversation);
  const uint32_t size = beginning.size();
  return json.starts_with(std::string_view(room.data(), size)) ? size : 0;
}

}  // namespace taut::wire
