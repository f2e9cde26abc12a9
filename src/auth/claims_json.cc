#include "auth/claims_json.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/assert.h"

namespace taut::auth {

namespace {

namespace dom = simdjson::dom;

/// Numbers in tokens stay below 2^53, so that JavaScript reads what we read.
constexpr int64_t kSecondsMax = int64_t{1} << 53;

/// Which claims were there, for "twice" and "missing".
enum Seen : uint32_t {
  kSub = 1,
  kRole = 2,
  kSite = 4,
  kExp = 8,
  kNbf = 16,
  kName = 32,
  kGroups = 64,
  kCapacity = 128,
  kOpen = 256,
  kRequired = kSub | kRole | kSite | kExp,
};

uint32_t claim_of(std::string_view key) {
  if (key == "sub") return kSub;
  if (key == "role") return kRole;
  if (key == "site") return kSite;
  if (key == "exp") return kExp;
  if (key == "nbf") return kNbf;
  if (key == "name") return kName;
  if (key == "groups") return kGroups;
  if (key == "capacity") return kCapacity;
  if (key == "open") return kOpen;
  return 0;
}

bool read_text(dom::element value, std::string_view& text) {
  return value.get_string().get(text) == simdjson::SUCCESS;
}

bool read_seconds(dom::element value, int64_t& seconds) {
  return value.get_int64().get(seconds) == simdjson::SUCCESS && seconds >= 0 && seconds <= kSecondsMax;
}

bool read_role(dom::element value, Role& role) {
  std::string_view text;
  if (!read_text(value, text)) return false;
  for (const Role candidate : {Role::visitor, Role::agent, Role::admin}) {
    if (text != role_name(candidate)) continue;
    role = candidate;
    return true;
  }
  return false;
}

bool read_groups(dom::element value, Claims& claims) {
  dom::array groups;
  if (value.get_array().get(groups) != simdjson::SUCCESS) return false;
  for (const dom::element group : groups) {
    if (claims.group_count == kGroupsMax || !read_text(group, claims.group_ids[claims.group_count]))
      return false;
    ++claims.group_count;
  }
  return true;
}

bool read_name(dom::element value, std::optional<std::string_view>& name) {
  return read_text(value, name.emplace());
}

bool read_capacity(dom::element value, std::optional<uint32_t>& capacity) {
  uint64_t number = 0;
  if (value.get_uint64().get(number) != simdjson::SUCCESS || number > kCapacityMax) return false;
  capacity = static_cast<uint32_t>(number);
  return true;
}

bool read_claim(uint32_t claim, dom::element value, ClaimsReader::Outcome& out) {
  switch (claim) {
    case kSub:
      return read_text(value, out.claims.id);
    case kRole:
      return read_role(value, out.claims.role);
    case kSite:
      return read_text(value, out.claims.site);
    case kExp:
      return read_seconds(value, out.claims.expires_s);
    case kNbf:
      return read_seconds(value, out.not_before_s);
    case kName:
      return read_name(value, out.claims.name);
    case kGroups:
      return read_groups(value, out.claims);
    case kCapacity:
      return read_capacity(value, out.claims.capacity);
    case kOpen:
      return value.get_bool().get(out.claims.may_open) == simdjson::SUCCESS;
    default:
      return true;
  }
}

/// A name is shown to people: no control characters, U+0000 above all.
bool valid_name(std::string_view name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  return name.size() <= kNameBytesMax && std::ranges::none_of(name, is_control);
}

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void append_member(std::string& out, std::string_view key, std::string_view text) {
  append_quoted(out, key);
  out += ':';
  append_quoted(out, text);
  out += ',';
}

}  // namespace

struct ClaimsReader::Impl {
  dom::parser parser;

  bool read_object(std::span<const char> json, dom::object& object) {
    // The padding is there, so nothing is copied; once grown, the parser allocates nothing.
    dom::element root;
    return parser.parse(json.data(), json.size(), false).get(root) == simdjson::SUCCESS &&
           root.get_object().get(object) == simdjson::SUCCESS;
  }
};

ClaimsReader::ClaimsReader() : impl_(std::make_unique<Impl>()) {
  static_assert(kPadding >= simdjson::SIMDJSON_PADDING);
  TAUT_ASSERT(impl_->parser.allocate(kTokenBytesMax) == simdjson::SUCCESS);
}

ClaimsReader::~ClaimsReader() = default;

std::expected<void, TokenFault> ClaimsReader::read_header(std::span<const char> json) {
  dom::object header;
  if (!impl_->read_object(json, header)) return std::unexpected(TokenFault::malformed);
  uint32_t algorithms = 0;
  for (const auto [key, value] : header) {
    std::string_view text;
    const bool is_text = read_text(value, text);
    if (key == "crit") return std::unexpected(TokenFault::wrong_algorithm);
    if (key == "typ" && text != "JWT") return std::unexpected(TokenFault::wrong_algorithm);
    if (key != "alg") continue;
    if (!is_text || text != "HS256" || ++algorithms > 1) return std::unexpected(TokenFault::wrong_algorithm);
  }
  if (algorithms != 1) return std::unexpected(TokenFault::wrong_algorithm);
  return {};
}

std::expected<ClaimsReader::Outcome, TokenFault> ClaimsReader::read_claims(std::span<const char> json) {
  dom::object object;
  if (!impl_->read_object(json, object)) return std::unexpected(TokenFault::malformed);
  std::expected<Outcome, TokenFault> out;
  uint32_t seen = 0;
  for (const auto [key, value] : object) {
    const uint32_t claim = claim_of(key);
    if ((seen & claim) != 0 || !read_claim(claim, value, *out)) return std::unexpected(TokenFault::bad_claim);
    seen |= claim;
  }
  if ((seen & kRequired) != kRequired || !within_limits(out->claims))
    return std::unexpected(TokenFault::bad_claim);
  return out;
}

bool within_limits(const Claims& claims) {
  return valid_id(claims.id) && valid_id(claims.site) && claims.expires_s >= 0 &&
         claims.expires_s <= kSecondsMax && (!claims.name || valid_name(*claims.name)) &&
         (!claims.capacity || *claims.capacity <= kCapacityMax) && claims.group_count <= kGroupsMax &&
         std::ranges::all_of(claims.groups(), valid_id);
}

std::string claims_to_json(const Claims& claims) {
  TAUT_ASSERT(within_limits(claims));
  std::string out = "{";
  append_member(out, "sub", claims.id);
  append_member(out, "role", role_name(claims.role));
  append_member(out, "site", claims.site);
  if (claims.name) append_member(out, "name", *claims.name);
  if (claims.group_count != 0) {
    out += "\"groups\":[";
    for (const std::string_view group : claims.groups()) {
      append_quoted(out, group);
      out += ',';
    }
    out.back() = ']';
    out += ',';
  }
  if (claims.capacity) out += "\"capacity\":" + std::to_string(*claims.capacity) + ",";
  if (!claims.may_open) out += "\"open\":false,";
  out += "\"exp\":" + std::to_string(claims.expires_s) + "}";
  return out;
}

}  // namespace taut::auth
