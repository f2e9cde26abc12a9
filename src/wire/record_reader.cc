#include "wire/record_reader.h"

#include <simdjson.h>

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

enum class Need : bool { optional, required };

/// Takes the members of one object into fields; the first that does not fit is what error() says.
class Members {
 public:
  Members(const dom::object& object, std::string_view within) : object_(object), within_(within) {}

  Members& id(std::string_view name, std::string_view& out, Need need = Need::required) {
    return take(name, need, "must be 1-64 characters A-Z a-z 0-9 . _ -", [&](const dom::element& value) {
      return value.get_string().get(out) == simdjson::SUCCESS && valid_id(out);
    });
  }
  Members& text(std::string_view name, std::string_view& out, Need need = Need::required) {
    return take(name, need, "must be a string",
                [&](const dom::element& value) { return value.get_string().get(out) == simdjson::SUCCESS; });
  }
  Members& number(std::string_view name, uint64_t& out, uint64_t most = kIntegerMax,
                  Need need = Need::required) {
    return take(name, need, "must be an integer in its range", [&](const dom::element& value) {
      return value.get_uint64().get(out) == simdjson::SUCCESS && out <= most;
    });
  }
  Members& number(std::string_view name, uint32_t& out, Need need) {
    uint64_t wide = out;
    number(name, wide, UINT32_MAX, need);
    out = static_cast<uint32_t>(wide);
    return *this;
  }
  Members& boolean(std::string_view name, bool& out) {
    return take(name, Need::required, "must be true or false",
                [&](const dom::element& value) { return value.get_bool().get(out) == simdjson::SUCCESS; });
  }
  template <class E>
  Members& word(std::string_view name, E& out, E last) {
    return take(name, Need::required, "is not a word of the protocol", [&](const dom::element& value) {
      std::string_view text;
      if (value.get_string().get(text) != simdjson::SUCCESS) return false;
      const std::optional<E> known = value_of(text, last);
      out = known.value_or(out);
      return known.has_value();
    });
  }
  Members& object(std::string_view name, dom::object& out, Need need = Need::required) {
    return take(name, need, "must be an object",
                [&](const dom::element& value) { return value.get_object().get(out) == simdjson::SUCCESS; });
  }

  [[nodiscard]] bool sound() const { return error_.empty(); }
  [[nodiscard]] Status status() const { return sound() ? Status() : fail(error_); }

 private:
  template <class Fits>
  Members& take(std::string_view name, Need need, std::string_view otherwise, Fits&& fits) {
    if (!sound()) return *this;
    dom::element value;
    if (object_.at_key(name).get(value) != simdjson::SUCCESS) {
      if (need == Need::required) refuse(name, "is missing");
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
      .text("name", out.from.name, Need::optional)
      .status();
}

Status read_event(const dom::object& object, Event& out) {
  return Members(object, "")
      .id("conversation", out.conversation)
      .number("epoch", out.epoch)
      .number("seq", out.seq)
      .word("event", out.event, EventKind::rated)
      .id("agent", out.agent, Need::optional)
      .id("group", out.group, Need::optional)
      .text("reason", out.reason, Need::optional)
      .number("rating", out.rating, kRatingMax, Need::optional)
      .text("text", out.text, Need::optional)
      .number("owner_epoch", out.owner_epoch, UINT32_MAX)
      .number("ts", out.ts)
      .status();
}

}  // namespace

struct RecordReader::Impl {
  Result<dom::object> parse(std::string_view payload);

  dom::parser parser;
  std::vector<char> padded;  ///< the payload with the parser's slack behind
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
  out = {};
  dom::object attributes;
  const Status status = Members(*object, "")
                            .id("conversation", out.conversation)
                            .id("group", out.group)
                            .id("visitor", out.visitor)
                            .text("name", out.name, Need::optional)
                            .text("subject", out.subject, Need::optional)
                            .object("attributes", attributes, Need::optional)
                            .status();
  const bool has_attributes = object->at_key("attributes").error() == simdjson::SUCCESS;
  if (status && has_attributes) out.attributes = raw_member_of(payload, *object, "attributes");
  return status;
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
      .status();
}

Status RecordReader::read(std::string_view payload, PresenceSet& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  out = {};
  return Members(*object, "")
      .id("agent", out.agent)
      .word("status", out.status, PresenceStatus::offline)
      .number("capacity", out.capacity, Need::optional)
      .status();
}

Status RecordReader::read(std::string_view payload, VisitorBlocked& out) {
  const Result<dom::object> object = impl_->parse(payload);
  if (!object) return std::unexpected(object.error());
  out = {};
  return Members(*object, "").id("visitor", out.visitor).number("until_ms", out.until_ms).status();
}

}  // namespace taut::wire
