#include "wire/canned_replies.h"

#include <simdjson.h>

#include <algorithm>

#include "base/identity.h"
#include "wire/chat_reader.h"

namespace taut::wire {

namespace {

using Element = simdjson::dom::element;

/// No U+0000: no message may hold one.
bool read_text(const Element& value, std::string& out, size_t least, size_t most) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return false;
  out = text;
  return text.size() >= least && text.size() <= most && text.find('\0') == std::string_view::npos;
}

bool read_groups(const Element& value, std::vector<std::string>& out) {
  simdjson::dom::array groups;
  if (value.get_array().get(groups) != simdjson::SUCCESS) return false;
  return std::ranges::all_of(groups, [&out](const Element& group) {
    return read_text(group, out.emplace_back(), 1, kIdBytesMax) && valid_id(out.back());
  });
}

bool read_field(std::string_view key, const Element& value, size_t text_bytes_max, CannedReply& out) {
  if (key == "name") return read_text(value, out.name, 1, kNameBytesMax);
  if (key == "text") return read_text(value, out.text, 1, text_bytes_max);
  return key == "groups" && read_groups(value, out.groups);
}

/// What is wrong with it; empty: nothing.
std::string read_entry(const Element& entry, size_t text_bytes_max, CannedReply& out) {
  simdjson::dom::object object;
  if (entry.get_object().get(object) != simdjson::SUCCESS) return "must be an object";
  std::vector<std::string_view> seen;
  for (const auto& [key, value] : object) {
    if (std::ranges::find(seen, key) != seen.end()) return std::string(key) + ": is there twice";
    seen.push_back(key);
    if (!read_field(key, value, text_bytes_max, out))
      return std::string(key) + ": unknown, of the wrong type or out of its limits";
  }
  if (out.name.empty()) return "name: missing";
  return out.text.empty() ? "text: missing" : "";
}

}  // namespace

Result<std::vector<CannedReply>> read_canned_replies(std::string_view json, size_t text_bytes_max) {
  simdjson::dom::parser parser;
  simdjson::dom::array entries;
  const simdjson::padded_string padded(json);
  if (parser.parse(padded).get_array().get(entries) != simdjson::SUCCESS)
    return fail(R"(must be a JSON array of {"name", "text", "groups"?})");
  std::vector<CannedReply> replies;
  for (const Element entry : entries) {
    CannedReply reply;
    const std::string place = "entry " + std::to_string(replies.size() + 1) + ": ";
    if (const std::string wrong = read_entry(entry, text_bytes_max, reply); !wrong.empty())
      return fail(place + wrong);
    if (std::ranges::find(replies, reply.name, &CannedReply::name) != replies.end())
      return fail(place + "name: \"" + reply.name + "\" is there twice");
    replies.push_back(std::move(reply));
  }
  return replies;
}

}  // namespace taut::wire
