#include "auth/origin.h"

#include <algorithm>

namespace taut::auth {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

bool starts_without_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && equal_without_case(text.substr(0, prefix.size()), prefix);
}

/// scheme://host, the scheme's usual port left out. Anything else is kept whole in `host`, so that it can
/// only equal itself.
struct Origin {
  std::string_view scheme;
  std::string_view host;
};

struct Scheme {
  std::string_view prefix;
  std::string_view usual_port;
};
constexpr Scheme kHttp = {"http://", ":80"};
constexpr Scheme kHttps = {"https://", ":443"};

Origin parse(std::string_view text) {
  for (const Scheme& scheme : {kHttp, kHttps}) {
    if (!starts_without_case(text, scheme.prefix)) continue;
    std::string_view host = text.substr(scheme.prefix.size());
    if (host.ends_with(scheme.usual_port)) host.remove_suffix(scheme.usual_port.size());
    return {scheme.prefix, host};
  }
  return {{}, text};
}

/// The Host header has no scheme: its port is the usual one of the origin's.
bool is_host(const Origin& origin, std::string_view host) {
  if (origin.scheme.empty() || origin.host.empty()) return false;
  const std::string_view port = origin.scheme == kHttp.prefix ? kHttp.usual_port : kHttps.usual_port;
  if (host.ends_with(port)) host.remove_suffix(port.size());
  return equal_without_case(origin.host, host);
}

}  // namespace

bool origin_accepted(std::optional<std::string_view> origin, std::string_view host,
                     std::span<const std::string> allowed) {
  if (!origin) return true;
  const Origin from = parse(*origin);
  if (is_host(from, host)) return true;
  return std::ranges::any_of(allowed, [&](const std::string& entry) {
    const Origin listed = parse(entry);
    return from.scheme == listed.scheme && equal_without_case(from.host, listed.host);
  });
}

}  // namespace taut::auth
