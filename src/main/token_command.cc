// `taut token`: signs a token and prints it alone.
#include <algorithm>
#include <cstdio>

#include "auth/jwt.h"
#include "auth/secret.h"
#include "base/clock.h"
#include "base/file.h"
#include "gateway/settings.h"
#include "main/command.h"

namespace taut {

namespace {

auth::Claims claims_of(const gateway::TokenSettings& settings, int64_t now_s) {
  auth::Claims claims;
  claims.id = settings.id;
  claims.role = settings.role;
  claims.site = settings.site;
  claims.expires_s = now_s + settings.ttl_s;
  if (!settings.name.empty()) claims.name = settings.name;
  if (settings.role == Role::agent) claims.capacity = settings.capacity;
  if (settings.role == Role::visitor) claims.may_open = settings.open;
  for (const std::string& group : settings.groups) claims.group_ids[claims.group_count++] = group;
  return claims;
}

}  // namespace

int run_token(Arguments arguments) {
  gateway::TokenSettings settings;
  Config config = gateway::token_config(settings);
  int exit_code = kExitOk;
  if (!read_settings(config, "taut token", arguments, exit_code)) return exit_code;
  if (!accept_settings(check(settings), "taut token", exit_code)) return exit_code;

  PosixFileSystem files;
  const auto secrets = auth::Secrets::load(files, settings.secret_files);
  if (!secrets) return complain("taut token", secrets.error().message, kExitUsage);
  SystemClock clock;
  auth::Signer signer(*secrets);
  std::puts(signer.sign(claims_of(settings, clock.wall_ms() / 1'000)).c_str());
  return kExitOk;
}

}  // namespace taut
