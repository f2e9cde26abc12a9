#include "wire/token_request.h"

#include <simdjson.h>

#include "wire/chat_reader.h"

namespace taut::wire {

namespace {

using Element = simdjson::dom::element;

bool read_string(const Element& value, std::string& out, size_t bytes_max) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS || text.size() > bytes_max) return false;
  out = text;
  return true;
}

bool read_id(const Element& value, std::string& out) {
  return read_string(value, out, kIdBytesMax) && valid_id(out);
}

bool read_number(const Element& value, uint32_t least, uint32_t most, uint32_t& out) {
  uint64_t number = 0;
  if (value.get_uint64().get(number) != simdjson::SUCCESS || number < least || number > most) return false;
  out = static_cast<uint32_t>(number);
  return true;
}

bool read_role(const Element& value, Role& out) {
  std::string text;
  if (!read_string(value, text, kIdBytesMax)) return false;
  for (const Role role : {Role::visitor, Role::agent, Role::admin}) {
    if (text == role_name(role)) {
      out = role;
      return true;
    }
  }
  return false;
}

bool read_agent_groups(const Element& value, std::vector<std::string>& out) {
  simdjson::dom::array items;
  if (value.get_array().get(items) != simdjson::SUCCESS) return false;
  for (const Element item : items) {
    if (!read_id(item, out.emplace_back())) return false;
  }
  return true;
}

bool read_field(std::string_view key, const Element& value, TokenRequest& out) {
  if (key == "role") return read_role(value, out.role);
  if (key == "id") return read_id(value, out.id);
  if (key == "site") return read_id(value, out.site);
  if (key == "name") return read_string(value, out.name, kNameBytesMax);
  if (key == "groups") return read_agent_groups(value, out.groups);
  if (key == "open") return value.get_bool().get(out.open) == simdjson::SUCCESS;
  if (key == "ttl_s") return read_number(value, 1, kTokenTtlSecondsMax, out.ttl_s);
  if (key == "capacity") return read_number(value, 0, kCapacityMax, out.capacity.emplace());
  return false;
}

}  // namespace

Result<TokenRequest> read_token_request(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  const simdjson::padded_string padded(json);
  if (parser.parse(padded).get_object().get(object) != simdjson::SUCCESS)
    return fail("the body must be a JSON object");
  TokenRequest request;
  bool has_role = false;
  for (const auto& [key, value] : object) {
    has_role |= key == "role";
    if (!read_field(key, value, request))
      return fail(std::string(key) + ": unknown, of the wrong type or out of its limits");
  }
  if (!has_role) return fail("role: missing");
  if (request.id.empty()) return fail("id: missing");
  return request;
}

}  // namespace taut::wire
