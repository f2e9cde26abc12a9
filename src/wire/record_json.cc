#include "wire/record_json.h"

#include "wire/json_sink.h"

namespace taut::wire {
namespace {

template <class Sink>
void put(Sink& sink, const Started& m) {
  escaped(sink, R"({"version":)", m.version);
  boolean(sink, R"(,"clean":)", m.clean);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const ConversationFacts& m) {
  plain(sink, R"({"conversation":)", m.conversation);
  plain(sink, R"(,"group":)", m.group);
  plain(sink, R"(,"visitor":)", m.visitor);
  optional_escaped(sink, R"(,"name":)", m.name);
  optional_escaped(sink, R"(,"subject":)", m.subject);
  optional_raw(sink, R"(,"attributes":)", m.attributes);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const Marks& m) {
  plain(sink, R"({"conversation":)", m.conversation);
  number(sink, R"(,"visitor_delivered":)", m.visitor_delivered);
  number(sink, R"(,"visitor_read":)", m.visitor_read);
  number(sink, R"(,"agent_delivered":)", m.agent_delivered);
  number(sink, R"(,"agent_read":)", m.agent_read);
  optional_plain(sink, R"(,"marked_by":)", m.marked_by);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const PresenceSet& m) {
  plain(sink, R"({"agent":)", m.agent);
  plain(sink, R"(,"status":)", name_of(m.status));
  if (m.capacity != PresenceSet::kTokenCapacity) number(sink, R"(,"capacity":)", m.capacity);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const VisitorBlocked& m) {
  plain(sink, R"({"visitor":)", m.visitor);
  number(sink, R"(,"until_ms":)", m.until_ms);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const VisitorForgotten& m) {
  plain(sink, R"({"visitor":)", m.visitor);
  sink.literal("}");
}

}  // namespace

TAUT_JSON_WRITES(Started)
TAUT_JSON_WRITES(ConversationFacts)
TAUT_JSON_WRITES(Marks)
TAUT_JSON_WRITES(PresenceSet)
TAUT_JSON_WRITES(VisitorBlocked)
TAUT_JSON_WRITES(VisitorForgotten)

}  // namespace taut::wire
