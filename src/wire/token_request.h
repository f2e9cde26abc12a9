// The body of POST /v1/tokens: whom a token is for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/identity.h"
#include "base/result.h"

namespace taut::wire {

/// Owns its strings: HTTP is not on the data path. Every id is valid.
struct TokenRequest {
  Role role = Role::visitor;
  std::string id;
  std::string site;  ///< empty: the server's
  std::string name;
  std::vector<std::string> groups;
  std::optional<uint32_t> capacity;
  uint32_t ttl_s = 3'600;
  bool open = true;
};

inline constexpr uint32_t kTokenTtlSecondsMax = 366U * 86'400;

/// Error: not a JSON object, or a field that is missing, unknown, of the wrong type or out of its limits;
/// names the field.
[[nodiscard]] Result<TokenRequest> read_token_request(std::string_view json);

}  // namespace taut::wire
