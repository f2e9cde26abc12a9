#include "gateway/settings.h"

#include <algorithm>
#include <array>

#include "auth/jwt.h"
#include "base/clock.h"
#include "chat/types.h"
#include "core/mesh.h"
#include "gateway/group_rules.h"
#include "gateway/settings_journal.h"
#include "gateway/settings_network.h"
#include "gateway/settings_store.h"

namespace taut::gateway {

namespace {

constexpr std::array<std::string_view, 2> kLogFormats{"text", "json"};
constexpr std::array<std::string_view, 4> kLogLevels{"debug", "info", "warn", "error"};
constexpr std::array<std::string_view, 3> kRoles{"visitor", "agent", "admin"};

constexpr int64_t kYearSeconds = 366LL * 86'400;

Status is_id(std::string_view text) {
  if (valid_id(text)) return {};
  return fail("1 to 64 characters of A-Z a-z 0-9 . _ -");
}

Status is_not_empty(std::string_view text) {
  if (!text.empty()) return {};
  return fail("something");
}

bool has_twice(std::vector<std::string> names) {
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

void add_identity(std::vector<ConfigRow>& rows, Settings& s) {
  rows.push_back(
      {.key = "secret-file",
       .section = "Identity",
       .field = &s.secret_files,
       .help =
           "File with the secret of the tokens, at least 32 bytes; may repeat: the first signs, all verify",
       .value_name = "FILE",
       .min = 1,
       .required = true,
       .check = is_not_empty});
  rows.push_back({.key = "site",
                  .section = "Identity",
                  .field = &s.site,
                  .help = "The site that this process serves; tokens for another are refused",
                  .value_name = "ID",
                  .check = is_id});
  rows.push_back({.key = "admin-key-file",
                  .section = "Identity",
                  .field = &s.admin_key_file,
                  .help = "File with the key of the HTTP API; without one the API answers 403",
                  .value_name = "FILE"});
}

void add_chat(std::vector<ConfigRow>& rows, Settings& s) {
  rows.push_back({.key = "group",
                  .section = "Chat",
                  .field = &s.groups,
                  .help = "Group of agents; may repeat: the first takes conversations that name none",
                  .value_name = "ID",
                  .min = 1,
                  .check = is_id});
  rows.push_back({.key = "replies-file",
                  .section = "Chat",
                  .field = &s.replies_file,
                  .help = "JSON file with the agents' canned replies; read again on SIGHUP",
                  .value_name = "FILE"});
  rows.push_back({.key = "hours",
                  .section = "Chat",
                  .field = &s.hours,
                  .help = "Working hours of a group, like \"sales=Mo-Fr 09:00-12:00,13:00-18:00,Sa "
                          "10:00-14:00\"; may repeat; a group without is always open",
                  .value_name = "GROUP=HOURS"});
  rows.push_back({.key = "timezone",
                  .section = "Chat",
                  .field = &s.timezone,
                  .help = "Time zone of --hours: UTC, an offset like +05:30, or a name like Europe/Berlin",
                  .value_name = "ZONE",
                  .check = TimeZone::check});
  rows.push_back({.key = "overflow",
                  .section = "Chat",
                  .field = &s.overflows,
                  .help = "Group whose agents help out: \"sales=support after 2min\" (at once while sales is "
                          "closed), or \"sales=support when closed\"; may repeat, once for each group",
                  .value_name = "RULE"});
  rows.push_back({.key = "accept-ms",
                  .section = "Chat",
                  .field = &s.accept_ms,
                  .help = "Time that an agent has to accept before the conversation goes back to the queue",
                  .unit = Unit::ms,
                  .min = 100,
                  .max = kDayMs});
  rows.push_back({.key = "agent-grace-ms",
                  .section = "Chat",
                  .field = &s.agent_grace_ms,
                  .help = "Time that an agent without a connection keeps presence and conversations",
                  .unit = Unit::ms,
                  .max = kDayMs});
  rows.push_back({.key = "visitor-grace-ms",
                  .section = "Chat",
                  .field = &s.visitor_grace_ms,
                  .help = "Time that a visitor without a connection keeps the place in the queue",
                  .unit = Unit::ms,
                  .max = kDayMs});
  rows.push_back({.key = "history-items",
                  .section = "Chat",
                  .field = &s.history_items,
                  .help = "Messages and events kept in memory per conversation",
                  .min = 1,
                  .max = 8'192});
  rows.push_back({.key = "conversations-max",
                  .section = "Chat",
                  .field = &s.conversations_max,
                  .help = "Most conversations in memory at once",
                  .min = 1,
                  .max = 100'000'000});
}

void add_limits(std::vector<ConfigRow>& rows, Settings& s) {
  rows.push_back({.key = "max-text-bytes",
                  .section = "Limits",
                  .field = &s.max_text_bytes,
                  .help = "Longest text of one message",
                  .unit = Unit::bytes,
                  .min = 1,
                  .max = 20'000});
  rows.push_back({.key = "max-inflight",
                  .section = "Limits",
                  .field = &s.max_inflight,
                  .help = "Sends of one connection that wait for their first ack",
                  .min = 1,
                  .max = 1'000'000});
  rows.push_back({.key = "rate-visitor",
                  .section = "Limits",
                  .field = &s.rate_visitor,
                  .help = "Messages per second and burst of one visitor; 0 is no limit"});
  rows.push_back({.key = "rate-agent",
                  .section = "Limits",
                  .field = &s.rate_agent,
                  .help = "Messages per second and burst of one agent; 0 is no limit"});
  rows.push_back({.key = "soft-limit-bytes",
                  .section = "Limits",
                  .field = &s.soft_limit_bytes,
                  .help = "Unsent output of one connection that makes it slow",
                  .unit = Unit::bytes,
                  .min = 4'096,
                  .max = 1U << 30});
  rows.push_back({.key = "hard-limit-bytes",
                  .section = "Limits",
                  .field = &s.hard_limit_bytes,
                  .help = "Unsent output of one connection that closes it (4103)",
                  .unit = Unit::bytes,
                  .min = 4'096,
                  .max = 1U << 30});
  rows.push_back({.key = "slow-reader-ms",
                  .section = "Limits",
                  .field = &s.slow_reader_ms,
                  .help = "Time that a connection may be slow before it is closed (4103)",
                  .unit = Unit::ms,
                  .min = 1,
                  .max = kHourMs});
  rows.push_back(
      {.key = "pool-base-bytes",
       .section = "Limits",
       .field = &s.pool_base_bytes,
       .help = "Memory for messages per shard that is touched at start, so that no message waits for a page",
       .unit = Unit::bytes,
       .max = 1ULL << 40});
  rows.push_back({.key = "pool-bytes-max",
                  .section = "Limits",
                  .field = &s.pool_bytes_max,
                  .help = "Most memory for messages per shard",
                  .unit = Unit::bytes,
                  .min = 64ULL << 20,
                  .max = 1ULL << 40});
}

void add_host(std::vector<ConfigRow>& rows, Settings& s) {
  rows.push_back({.key = "pin", .section = "Host", .field = &s.pin, .help = "Bind each shard to its core"});
  rows.push_back({.key = "smt",
                  .section = "Host",
                  .field = &s.smt,
                  .help = "Put shards on the other hardware threads of their cores, too"});
  rows.push_back({.key = "scheduling",
                  .section = "Host",
                  .field = choice_field(s.scheduling, ThreadSetup::kSchedulingNames),
                  .help = "The kernel's class for shards; fifo and rr need --wait park or isolated cores"});
  rows.push_back({.key = "scheduling-priority",
                  .section = "Host",
                  .field = &s.scheduling_priority,
                  .help = "Priority of shards under fifo and rr",
                  .min = 1,
                  .max = ThreadSetup::kPriorityMax});
  rows.push_back({.key = "numa-local",
                  .section = "Host",
                  .field = &s.numa_local,
                  .help = "Take a pinned shard's memory from its own node, where there are several"});
  rows.push_back({.key = "hold-cpu-latency",
                  .section = "Host",
                  .field = &s.hold_cpu_latency,
                  .help = "Hold /dev/cpu_dma_latency at 0: cheap wakes, and idle cores of the host burn"});
}

void add_engine(std::vector<ConfigRow>& rows, Settings& s) {
  rows.push_back({.key = "shards",
                  .section = "Engine",
                  .field = &s.shards,
                  .help = "Threads that carry messages; 0 is one per usable physical core",
                  .max = Mesh::kMembersMax - 4});  // other threads are members, too: see Layout
  rows.push_back({.key = "wait",
                  .section = "Engine",
                  .field = choice_field(s.wait, WaitOptions::kNames),
                  .help =
                      "What an idle shard does: spin as long as it pays, sleep at once, never sleep, spin "
                      "for --spin-us and sleep; yield, dotnet and backoff are for comparison"});
  rows.push_back({.key = "spin-us",
                  .section = "Engine",
                  .field = &s.spin_us,
                  .help = "Microseconds that an idle shard spins before it sleeps, with --wait spin_park",
                  .max = 1'000'000});
}

void add_log(std::vector<ConfigRow>& rows, Settings& s) {
  rows.push_back({.key = "log-level",
                  .section = "Log",
                  .field = choice_field(s.log_level, kLogLevels),
                  .help = "Least important lines that are written to standard error"});
  rows.push_back({.key = "log-format",
                  .section = "Log",
                  .field = choice_field(s.log_format, kLogFormats),
                  .help = "Lines for people or for programs"});
  rows.push_back({.key = "trace-every",
                  .section = "Traces",
                  .field = &s.trace_every,
                  .help = "One message in N has every stage of its way timed",
                  .min = 1,
                  .max = 1'000'000});
  rows.push_back(
      {.key = "record",
       .section = "Traces",
       .field = &s.record,
       .help = "Time every message and, when the server has stopped, write all of it to FILE as CSV",
       .value_name = "FILE"});
  rows.push_back({.key = "record-messages",
                  .section = "Traces",
                  .field = &s.record_messages,
                  .help = "Messages that --record keeps per shard, the latest ones (56 bytes each)",
                  .min = 1,
                  .max = 100'000'000});
  rows.push_back({.key = "demo",
                  .section = "Demonstration",
                  .field = &s.demo,
                  .help = "Serve demonstration pages that hand a token to everybody; for trying out only"});
}

}  // namespace

Config serve_config(Settings& settings) {
  std::vector<ConfigRow> rows;
  add_network_rows(rows, settings);
  add_identity(rows, settings);
  add_chat(rows, settings);
  add_limits(rows, settings);
  add_journal_rows(rows, settings);
  add_store_rows(rows, settings);
  add_engine(rows, settings);
  add_host(rows, settings);
  add_log(rows, settings);
  return Config("taut serve", "Runs the gateway until SIGTERM or SIGINT.", std::move(rows));
}

Status check(const Settings& s) {
  if (s.tls_cert.empty() != s.tls_key.empty())
    return fail("--tls-cert and --tls-key go together: give both, or none for plain connections");
  if (s.proxy_protocol && s.trusted_proxies.empty())
    return fail("--proxy-protocol needs --trusted-proxy: without one nobody may say who the client is");
  if (s.soft_limit_bytes > s.hard_limit_bytes) {
    return fail("--soft-limit-bytes " + std::to_string(s.soft_limit_bytes) + " is above --hard-limit-bytes " +
                std::to_string(s.hard_limit_bytes) + ": lower the first or raise the second");
  }
  if (s.max_text_bytes > s.soft_limit_bytes) {
    return fail("--max-text-bytes " + std::to_string(s.max_text_bytes) + " is above --soft-limit-bytes " +
                std::to_string(s.soft_limit_bytes) + ": one message would make its reader slow");
  }
  if (s.pool_base_bytes > s.pool_bytes_max) {
    return fail("--pool-base-bytes " + std::to_string(s.pool_base_bytes) + " is above --pool-bytes-max " +
                std::to_string(s.pool_bytes_max) + ": lower it");
  }
  if (s.groups.size() > chat::kGroupsMax) {
    return fail("--group is given " + std::to_string(s.groups.size()) + " times: at most " +
                std::to_string(chat::kGroupsMax));
  }
  if (has_twice(s.groups)) return fail("--group names the same group twice: remove one");
  if (s.retention_days > 0 && store_of(s) == "none")
    return fail("--retention-days needs --data, a --mode and a --store: nothing is kept otherwise");
  if (const Result<GroupRules> rules = read_group_rules(s); !rules) return std::unexpected(rules.error());
  return {};
}

Config token_config(TokenSettings& s) {
  std::vector<ConfigRow> rows;
  rows.push_back({.key = "secret-file",
                  .section = "Token",
                  .field = &s.secret_files,
                  .help = "File with the secret, at least 32 bytes; the first signs",
                  .value_name = "FILE",
                  .min = 1,
                  .required = true,
                  .check = is_not_empty});
  rows.push_back({.key = "role",
                  .section = "Token",
                  .field = choice_field(s.role, kRoles),
                  .help = "Who the holder is"});
  rows.push_back({.key = "id",
                  .section = "Token",
                  .field = &s.id,
                  .help = "The holder's id",
                  .value_name = "ID",
                  .required = true,
                  .check = is_id});
  rows.push_back({.key = "site",
                  .section = "Token",
                  .field = &s.site,
                  .help = "The site that the token is good for",
                  .value_name = "ID",
                  .check = is_id});
  rows.push_back({.key = "ttl",
                  .section = "Token",
                  .field = &s.ttl_s,
                  .help = "Seconds until the token expires",
                  .value_name = "SECONDS",
                  .min = 1,
                  .max = kYearSeconds});
  rows.push_back(
      {.key = "name", .section = "Token", .field = &s.name, .help = "Name shown to the other side"});
  rows.push_back({.key = "groups",
                  .section = "Agents",
                  .field = &s.groups,
                  .help = "Groups that the agent works for",
                  .value_name = "ID,ID",
                  .commas = true,
                  .check = is_id});
  rows.push_back({.key = "capacity",
                  .section = "Agents",
                  .field = &s.capacity,
                  .help = "Conversations that the agent takes at once",
                  .max = auth::kCapacityMax});
  rows.push_back({.key = "open",
                  .section = "Visitors",
                  .field = &s.open,
                  .help = "Let the visitor open conversations; --no-open forbids it"});
  return Config("taut token", "Signs a token and prints it alone on standard output.", std::move(rows));
}

Status check(const TokenSettings& s) {
  if (s.role != Role::agent && !s.groups.empty()) return fail("--groups is for --role agent only");
  if (s.groups.size() > auth::kGroupsMax) {
    return fail("--groups has " + std::to_string(s.groups.size()) + " entries: at most " +
                std::to_string(auth::kGroupsMax));
  }
  if (s.name.size() > auth::kNameBytesMax) {
    return fail("--name is longer than " + std::to_string(auth::kNameBytesMax) + " bytes: shorten it");
  }
  if (has_twice(s.groups)) return fail("--groups names the same group twice: remove one");
  return {};
}

}  // namespace taut::gateway
