#include "wire/record_reader.h"

#include <simdjson.h>

#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/identity.h"
#include "wire/json_scan.h"
#include "wire/padding.h"

namespace taut::wire {
namespace {

namespace dom = simdjson::dom;

enum class MemberNeed : bool { optional, required };

bool read_hexadecimal(const dom::element& value, std::span<uint64_t> out) {
  constexpr size_t kDigits = 16;
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS || text.size() != out.size() * kDigits) return false;
  for (uint64_t& word : out) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + kDigits, word, 16);
    if (error != std::errc() || end != text.data() + kDigits) return false;
    text.remove_prefix(kDigits);
  }
  return true;
}

// -- elements of lists --

bool read_number(const dom::element& value, uint64_t& out, uint64_t most = kIntegerMax) {
  return value.get_uint64().get(out) == simdjson::SUCCESS && out <= most;
}
bool read_number(const dom::element& value, uint32_t& out) {
  uint64_t wide = 0;
  const bool fits = read_number(value, wide, UINT32_MAX);
  out = static_cast<uint32_t>(wide);
  return fits;
}

bool read_word(const dom::element& value, PartyKind& out) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return false;
  const std::optional<PartyKind> kind = value_of(text, PartyKind::system);
  out = kind.value_or(out);
  return kind.has_value();
}

bool read_element(const dom::array& parts, EpochSpan& out) {
  return parts.size() == 3 && read_number(parts.at(0).value_unsafe(), out.first) &&
         read_number(parts.at(1).value_unsafe(), out.epoch) &&
         read_number(parts.at(2).value_unsafe(), out.last);
}

bool read_element(const dom::array& parts, KnownSender& out) {
  return parts.size() == 3 && read_word(parts.at(0).value_unsafe(), out.kind) &&
         parts.at(1).value_unsafe().get_string().get(out.id) == simdjson::SUCCESS &&
         (valid_id(out.id) || out.id.empty()) && read_number(parts.at(2).value_unsafe(), out.first_seq);
}

bool read_element(const dom::array& parts, KnownMessage& out) {
  return parts.size() == 4 && read_number(parts.at(0).value_unsafe(), out.seq) &&
         read_number(parts.at(1).value_unsafe(), out.epoch) &&
         read_number(parts.at(2).value_unsafe(), out.ts) &&
         read_hexadecimal(parts.at(3).value_unsafe(), out.hashes);
}

/// Takes the members of one object into fields; the first that does not fit is what error() says.
class Members {
 public:
  Members(const dom::object& object, std::string_view within) : object_(object), within_(within) {}

  Members& id(std::string_view name, std::string_view& out, MemberNeed need = MemberNeed::required) {
    return take(name, need, "must be 1-64 characters A-Z a-z 0-9 . _ -", [&](const dom::element& value) {
      return value.get_string().get(out) == simdjson::SUCCESS && valid_id(out);
    });
  }
  Members& text(std::string_view name, std::string_view& out, MemberNeed need = MemberNeed::required) {
    return take(name, need, "must be a string",
                [&](const dom::element& value) { return value.get_string().get(out) == simdjson::SUCCESS; });
  }
  Members& number(std::string_view name, uint64_t& out, uint64_t most = kIntegerMax,
                  MemberNeed need = MemberNeed::required) {
    return take(name, need, "must be an integer in its range", [&](const dom::element& value) {
      return value.get_uint64().get(out) == simdjson::SUCCESS && out <= most;
    });
  }
  Members& number(std::string_view name, uint32_t& out, MemberNeed need) {
    uint64_t wide = out;
    number(name, wide, UINT32_MAX, need);
    out = static_cast<uint32_t>(wide);
    return *this;
  }
  Members& boolean(std::string_view name, bool& out) {
    return take(name, MemberNeed::required, "must be true or false",
                [&](const dom::element& value) { return value.get_bool().get(out) == simdjson::SUCCESS; });
  }
  template <class E>
  Members& word(std::string_view name, E& out, E last) {
    return take(name, MemberNeed::required, "is not a word of the protocol", [&](const dom::element& value) {
      std::string_view text;
      if (value.get_string().get(text) != simdjson::SUCCESS) return false;
      const std::optional<E> known = value_of(text, last);
      out = known.value_or(out);
      return known.has_value();
    });
  }
  /// `count` words of 64 bits, 16 hexadecimal digits for each.
  Members& hexadecimal(std::string_view name, std::span<uint64_t> out) {
    return take(name, MemberNeed::required, "must be hexadecimal digits",
                [&](const dom::element& value) { return read_hexadecimal(value, out); });
  }
  /// An array of arrays, each of which `read` makes an element of.
  template <class T>
  Members& list(std::string_view name, std::vector<T>& out, bool (*read)(const dom::array&, T&)) {
    return take(name, MemberNeed::required, "must be a list of lists with what belongs there",
                [&](const dom::element& value) {
                  dom::array elements;
                  if (value.get_array().get(elements) != simdjson::SUCCESS) return false;
                  out.clear();
                  for (const dom::element element : elements) {
                    dom::array parts;
                    if (element.get_array().get(parts) != simdjson::SUCCESS) return false;
                    if (!read(parts, out.emplace_back())) return false;
                  }
                  return true;
                });
  }
  Members& object(std::string_view name, dom::object& out, MemberNeed need = MemberNeed::required) {
    return take(name, need, "must be an object",
                [&](const dom::element& value) { return value.get_object().get(out) == simdjson::SUCCESS; });
  }

  [[nodiscard]] bool sound() const { return error_.empty(); }
  [[nodiscard]] Status status() const { return sound() ? Status() : fail(error_); }

 private:
  template <class Fits>
  Members& take(std::string_view name, MemberNeed need, std::string_view otherwise, Fits&& fits) {
    if (!sound()) return *this;
    dom::element value;
    if (object_.at_key(name).get(value) != simdjson::SUCCESS) {
      if (need == MemberNeed::required) refuse(name, "is missing");
    } else if (!fits(value)) {
      refuse(name, otherwise);
    }
    return *this;
  }
  void refuse(std::string_view name, std::string_view why) {
    error_.append(within_).append(name).append(": ").append(why);
  }

  dom::object object_;
  std::string_view within_;  ///< what stands before the names
  std::string error_;
};

/// The raw text of an object's member of that name. REQUIRES: it has one.
std::string_view raw_member_of(std::string_view json, const dom::object& object, std::string_view name) {
  uint32_t place = 0;
  for (const auto [key, value] : object) {
    if (key == name) break;
    ++place;
  }
  return raw_member(json, place);
}

Status read_facts(std::string_view payload, const dom::object& object, ConversationFacts& out) {
  out = {};
  dom::object attributes;
  const Status status = Members(object, "")
                            .id("conversation", out.conversation)
                            .id("group", out.group)
                            .id("visitor", out.visitor)
                            .text("name", out.name, MemberNeed::optional)
                            .text("subject", out.subject, MemberNeed::optional)
                            .object("attributes", attributes, MemberNeed::optional)
                            .status();
  const bool has_attributes = object.at_key("attributes").error() == simdjson::SUCCESS;
  if (status && has_attributes) out.attributes = raw_member_of(payload, object, "attributes");
  return status;
}

Status read_message(const dom::object& object, Message& out) {
  Members members(object, "");
  dom::object from;
  members.id("conversation", out.conversation)
      .number("epoch", out.epoch)
      .number("seq", out.seq)
      .object("from", from)
      .id("client_msg_id", out.client_msg_id)
      .word("kind", out.kind, ItemKind::note)
      .text("text", out.text)
      .number("ts", out.ts);
  if (!members.sound()) return members.status();
  return Members(from, "from.")
      .word("kind", out.from.kind, PartyKind::system)
      .id("id", out.from.id)
      .text("name", out.from.name, MemberNeed::optional)
      .status();
}

Status read_event(const dom::object& object, Event& out) {
  return Members(object, "")
      .id("conversation", out.conversation)
      .number("epoch", out.epoch)
      .number("seq", out.seq)
      .word("event", out.event, EventKind::rated)
      .id("agent", out.agent, MemberNeed::optional)
      .id("group", out.group, MemberNeed::optional)
      .text("reason", out.reason, MemberNeed::optional)
      .number("rating", out.rating, kRatingMax, MemberNeed::optional)
      .text("text", out.text, MemberNeed::optional)
      .number("owner_epoch", out.owner_epoch, UINT32_MAX)
      .number("ts", out.ts)
      .status();
}

}  // namespace

struct RecordReader::Impl {
  Result<dom::object> parse(std::string_view payload);

  dom::parser parser;
  std::vector<char> padded;  ///< the payload with the parser's slack behind
  std::vector<EpochSpan> epochs;
  std::vector<KnownSender> senders;
  std::vector<KnownMessage> messages;
};

Result<dom::object> RecordReader::Impl::parse(std::string_view payload) {
  padded.assign(payload.begin(), payload.end());
  padded.resize(payload.size() + kReadablePadding);
  const Escapes escapes = repair_escapes(std::span(padded).first(payload.size()));
  dom::object object;
  if (parser.parse(padded.data(), payload.size(), false).get_object().get(object) != simdjson::SUCCESS)
    return fail("not a JSON object");
  if (escapes == Escapes::broken) return fail("a lone surrogate or U+0000 is escaped in it");
  return object;
}

RecordReader::RecordReader() : impl_(std::make_unique<Impl>()) {}
RecordReader::~RecordReader() = default;

Status RecordReader::read(std::string_view payload, Started& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  out = {};
  return Members(*object, "").text("version", out.version).boolean("clean", out.clean).status();
}

Status RecordReader::read(std::string_view payload, ConversationFacts& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  return read_facts(payload, *object, out);
}

Status RecordReader::read(std::string_view payload, ItemObject& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  std::string_view type;
  if (const Status status = Members(*object, "").text("type", type).status(); !status) return status;
  if (type == name_of(ServerType::message)) return read_message(*object, out.emplace<Message>());
  if (type == name_of(ServerType::event)) return read_event(*object, out.emplace<Event>());
  return fail("type: must be message or event");
}

Status RecordReader::read(std::string_view payload, Marks& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  out = {};
  return Members(*object, "")
      .id("conversation", out.conversation)
      .number("visitor_delivered", out.visitor_delivered)
      .number("visitor_read", out.visitor_read)
      .number("agent_delivered", out.agent_delivered)
      .number("agent_read", out.agent_read)
      .id("marked_by", out.marked_by, MemberNeed::optional)
      .status();
}

Status RecordReader::read(std::string_view payload, PresenceSet& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  out = {};
  return Members(*object, "")
      .id("agent", out.agent)
      .word("status", out.status, PresenceStatus::offline)
      .number("capacity", out.capacity, MemberNeed::optional)
      .status();
}

Status RecordReader::read(std::string_view payload, VisitorBlocked& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  out = {};
  return Members(*object, "").id("visitor", out.visitor).number("until_ms", out.until_ms).status();
}

Status RecordReader::read(std::string_view payload, VisitorForgotten& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  out = {};
  return Members(*object, "").id("visitor", out.visitor).status();
}

// -- snapshots --

Status RecordReader::read(std::string_view payload, SnapshotFacts& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  out = {};
  return Members(*object, "")
      .hexadecimal("hash_seed", {&out.hash_seed, 1})
      .boolean("stopped", out.stopped)
      .number("latest_ms", out.latest_ms)
      .number("forgotten", out.forgotten)
      .status();
}

Status RecordReader::read(std::string_view payload, Standing& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  out = {};
  if (const Status facts = read_facts(payload, *object, out.facts); !facts) return facts;
  const Status status = Members(*object, "")
                            .word("state", out.state, ConversationState::closed)
                            .number("opening", out.opening, MemberNeed::required)
                            .number("rated_opening", out.rated_opening, MemberNeed::required)
                            .number("owner_epoch", out.owner_epoch, MemberNeed::required)
                            .id("owner", out.owner, MemberNeed::optional)
                            .number("owned_since", out.owned_since, MemberNeed::required)
                            .id("agent", out.agent, MemberNeed::optional)
                            .number("visitor_delivered", out.marks.visitor_delivered)
                            .number("visitor_read", out.marks.visitor_read)
                            .number("agent_delivered", out.marks.agent_delivered)
                            .number("agent_read", out.marks.agent_read)
                            .id("marked_by", out.marks.marked_by, MemberNeed::optional)
                            .number("first_seq", out.first_seq)
                            .number("opened_at", out.opened_at)
                            .number("closed_at", out.closed_at)
                            .list("epochs", impl_->epochs, &read_element)
                            .list("senders", impl_->senders, &read_element)
                            .status();
  out.epochs = impl_->epochs;
  out.senders = impl_->senders;
  return status;
}

Status RecordReader::read(std::string_view payload, KnownMessages& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  out = {};
  const Status status = Members(*object, "")
                            .id("conversation", out.conversation)
                            .word("kind", out.kind, PartyKind::system)
                            .id("sender", out.sender, MemberNeed::optional)
                            .list("messages", impl_->messages, &read_element)
                            .status();
  out.messages = impl_->messages;
  return status;
}

}  // namespace taut::wire
