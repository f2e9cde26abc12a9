// A client's message as JSON text again, for tests and the fuzzer of the reader.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "wire/chat_reader.h"
#include "wire/json_escape.h"

namespace taut::wire {

/// Builds one JSON object member by member.
class ObjectText {
 public:
  ObjectText& text(std::string_view name, std::string_view value) {
    std::string escaped(json_escaped_size(value), '\0');
    write_json_escaped(escaped, value);
    return raw(name, "\"" + escaped + "\"");
  }
  ObjectText& optional_text(std::string_view name, std::string_view value) {
    return value.empty() ? *this : text(name, value);
  }
  ObjectText& number(std::string_view name, uint64_t value) { return raw(name, std::to_string(value)); }
  ObjectText& raw(std::string_view name, std::string_view value) {
    out_.append(out_.size() == 1 ? "\"" : ",\"").append(name).append("\":").append(value);
    return *this;
  }
  [[nodiscard]] std::string str() const { return out_ + "}"; }

 private:
  std::string out_ = "{";
};

inline std::string resume_text(std::span<const ResumePoint> points) {
  std::string out = "[";
  for (const ResumePoint& point : points) {
    if (out.size() > 1) out += ",";
    out += ObjectText()
               .text("conversation", point.conversation)
               .number("epoch", point.epoch)
               .number("seq", point.seq)
               .str();
  }
  return out + "]";
}

inline void append_fields(ObjectText& out, const ClientMessage& m) {
  switch (m.type) {
    case ClientType::hello:
      out.number("version", m.version).text("role", role_name(m.role)).text("site", m.site);
      out.text("token", m.token).text("device", m.device).optional_text("name", m.name);
      if (!m.resume.empty()) out.raw("resume", resume_text(m.resume));
      break;
    case ClientType::open:
      out.optional_text("group", m.group).optional_text("conversation", m.conversation);
      out.optional_text("subject", m.subject);
      if (!m.attributes.empty()) out.raw("attributes", m.attributes);
      break;
    case ClientType::send:
      out.text("conversation", m.conversation).text("client_msg_id", m.client_msg_id);
      out.text("kind", name_of(m.kind)).text("text", m.text);
      break;
    case ClientType::typing:
      out.text("conversation", m.conversation).raw("on", m.on ? "true" : "false");
      break;
    case ClientType::delivered:
    case ClientType::read:
      out.text("conversation", m.conversation).number("seq", m.seq);
      break;
    case ClientType::history:
      out.text("conversation", m.conversation).number("limit", m.limit);
      if (m.before != 0) out.number("before", m.before);
      break;
    case ClientType::presence:
      out.text("status", name_of(m.status));
      if (m.has_capacity) out.number("capacity", m.capacity);
      break;
    case ClientType::transfer:
      out.text("conversation", m.conversation);
      out.raw("to", ObjectText().optional_text("agent", m.to_agent).optional_text("group", m.to_group).str());
      break;
    case ClientType::close:
      out.text("conversation", m.conversation).optional_text("reason", m.reason);
      break;
    case ClientType::list:
      out.text("scope", name_of(m.scope)).optional_text("cursor", m.cursor);
      break;
    case ClientType::accept:
    case ClientType::decline:
    case ClientType::take:
      out.text("conversation", m.conversation);
      break;
    case ClientType::block:
      out.text("conversation", m.conversation);
      if (m.seconds != 0) out.number("seconds", m.seconds);
      break;
    case ClientType::rate:
      out.text("conversation", m.conversation).number("rating", m.rating).optional_text("text", m.text);
      break;
    case ClientType::ping:
    case ClientType::replies:
      break;
  }
}

/// Reading it again gives the same message.
inline std::string to_text(const ClientMessage& m) {
  ObjectText out;
  out.text("type", name_of(m.type));
  const bool without_ref = m.type == ClientType::hello || m.type == ClientType::typing ||
                           m.type == ClientType::delivered || m.type == ClientType::read;
  if (!without_ref) out.number("ref", m.ref);
  append_fields(out, m);
  return out.str();
}

}  // namespace taut::wire
