#include "wire/snapshot_json.h"

#include "wire/json_sink.h"

namespace taut::wire {
namespace {

using json::boolean;
using json::escaped;
using json::number;
using json::optional_escaped;
using json::optional_plain;
using json::optional_raw;
using json::plain;

/// 16 digits for each word: JSON's numbers have only 53 bits.
template <class Sink>
void hexadecimal(Sink& sink, std::span<const uint64_t> words) {
  sink.literal("\"");
  for (const uint64_t word : words) {
    std::array<char, 16> digits{};
    for (size_t i = 0; i < digits.size(); ++i) digits[i] = "0123456789abcdef"[(word >> (60 - 4 * i)) & 15];
    sink.literal({digits.data(), digits.size()});
  }
  sink.literal("\"");
}

template <class Sink>
void put(Sink& sink, const SnapshotFacts& m) {
  sink.literal(R"({"hash_seed":)");
  hexadecimal(sink, {&m.hash_seed, 1});
  boolean(sink, R"(,"stopped":)", m.stopped);
  number(sink, R"(,"latest_ms":)", m.latest_ms);
  number(sink, R"(,"forgotten":)", m.forgotten);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const EpochSpan& m, bool first) {
  number(sink, first ? "[" : ",[", m.first);
  number(sink, ",", m.epoch);
  number(sink, ",", m.last);
  sink.literal("]");
}

template <class Sink>
void put(Sink& sink, const KnownSender& m, bool first) {
  plain(sink, first ? "[" : ",[", name_of(m.kind));
  plain(sink, ",", m.id);
  number(sink, ",", m.first_seq);
  sink.literal("]");
}

template <class Sink>
void put(Sink& sink, const KnownMessage& m, bool first) {
  number(sink, first ? "[" : ",[", m.seq);
  number(sink, ",", m.epoch);
  number(sink, ",", m.ts);
  sink.literal(",");
  hexadecimal(sink, m.hashes);
  sink.literal("]");
}

template <class Sink, class T>
void list(Sink& sink, std::string_view field, std::span<const T> elements) {
  sink.literal(field);
  sink.literal("[");
  for (size_t i = 0; i < elements.size(); ++i) put(sink, elements[i], i == 0);
  sink.literal("]");
}

template <class Sink>
void put(Sink& sink, const Standing& m) {
  plain(sink, R"({"conversation":)", m.facts.conversation);
  plain(sink, R"(,"group":)", m.facts.group);
  plain(sink, R"(,"visitor":)", m.facts.visitor);
  optional_escaped(sink, R"(,"name":)", m.facts.name);
  optional_escaped(sink, R"(,"subject":)", m.facts.subject);
  optional_raw(sink, R"(,"attributes":)", m.facts.attributes);
  plain(sink, R"(,"state":)", name_of(m.state));
  number(sink, R"(,"opening":)", m.opening);
  number(sink, R"(,"rated_opening":)", m.rated_opening);
  number(sink, R"(,"owner_epoch":)", m.owner_epoch);
  optional_plain(sink, R"(,"owner":)", m.owner);
  number(sink, R"(,"owned_since":)", m.owned_since);
  optional_plain(sink, R"(,"agent":)", m.agent);
  number(sink, R"(,"visitor_delivered":)", m.marks.visitor_delivered);
  number(sink, R"(,"visitor_read":)", m.marks.visitor_read);
  number(sink, R"(,"agent_delivered":)", m.marks.agent_delivered);
  number(sink, R"(,"agent_read":)", m.marks.agent_read);
  optional_plain(sink, R"(,"marked_by":)", m.marks.marked_by);
  number(sink, R"(,"first_seq":)", m.first_seq);
  number(sink, R"(,"opened_at":)", m.opened_at);
  number(sink, R"(,"closed_at":)", m.closed_at);
  list(sink, R"(,"epochs":)", m.epochs);
  list(sink, R"(,"senders":)", m.senders);
  sink.literal("}");
}

template <class Sink>
void put(Sink& sink, const KnownMessages& m) {
  plain(sink, R"({"conversation":)", m.conversation);
  plain(sink, R"(,"kind":)", name_of(m.kind));
  optional_plain(sink, R"(,"sender":)", m.sender);
  list(sink, R"(,"messages":)", m.messages);
  sink.literal("}");
}

}  // namespace

TAUT_JSON_WRITES(SnapshotFacts)
TAUT_JSON_WRITES(Standing)
TAUT_JSON_WRITES(KnownMessages)

}  // namespace taut::wire
