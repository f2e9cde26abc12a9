// What `taut serve` and `taut token` can be told, with the defaults, as plain structs and their tables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/identity.h"
#include "base/result.h"
#include "core/thread_setup.h"
#include "core/wait_options.h"
#include "wire/chat_codes.h"

namespace taut::gateway {

enum class LogFormat : uint8_t { text, json };
enum class LogLevel : uint8_t { debug, info, warn, error };

/// The server's settings, constant after start-up. Names follow the keys; the initial values are the
/// defaults. Limits without "per" hold for the whole process.
struct Settings {
  // Network
  HostPort listen{"127.0.0.1", 8080};  ///< WebSocket and HTTP; port 0 takes a free one
  HostPort compact;                    ///< the compact carrier; an empty host: it is not served
  bool deflate = false;                ///< permessage-deflate on WebSocket
  std::string tls_cert;                ///< empty: connections are plain
  std::string tls_key;
  std::vector<std::string> origins;          ///< allowed Origin headers beside Origin == Host
  std::string path_prefix;                   ///< empty, or begins and does not end with a slash
  std::vector<std::string> trusted_proxies;  ///< networks
  bool proxy_protocol = false;
  uint32_t connections_max = 16'000;
  uint32_t hello_timeout_ms = 10'000;
  Rate handshake_rate{1'000, 2'000};  ///< new connections, per shard
  uint32_t ping_ms = 25'000;
  uint32_t drain_ms = 0;         ///< between a signal to stop and the goodbyes: not ready, but serving
  uint32_t drain_spread_ms = 0;  ///< over which the goodbyes spread those who come back

  // Identity
  std::string site = "demo";
  std::vector<std::string> secret_files;  ///< the first signs, all verify
  std::string admin_key_file;             ///< empty: the HTTP API answers 403

  // Chat
  std::vector<std::string> groups{"default"};  ///< never empty, each a valid id, no duplicates
  std::string replies_file;                    ///< canned replies; empty: none
  std::string timezone = "UTC";
  std::vector<std::string> hours;      ///< as GroupRules reads them
  std::vector<std::string> overflows;  ///< as GroupRules reads them
  uint32_t accept_ms = 30'000;
  uint32_t agent_grace_ms = 30'000;
  uint32_t visitor_grace_ms = 180'000;
  uint32_t history_items = 1'000;  ///< kept per conversation
  uint32_t conversations_max = 100'000;

  // Limits
  uint32_t max_text_bytes = 16'384;
  uint32_t max_inflight = 1'024;  ///< sends without an accepted ack, per connection
  Rate rate_visitor{200, 1'000};  ///< messages per identity
  Rate rate_agent{1'000, 5'000};
  uint32_t soft_limit_bytes = 256U << 10;   ///< per connection, outbound: not read until below
  uint32_t hard_limit_bytes = 4U << 20;     ///< per connection, outbound: closed with 4103
  uint32_t slow_reader_ms = 2'000;          ///< over the soft limit for so long: closed with 4103
  uint64_t pool_base_bytes = 128ULL << 20;  ///< per shard: mapped and touched at start, kept
  uint64_t pool_bytes_max = 1ULL << 30;     ///< per shard

  // Engine
  uint32_t shards = 0;  ///< 0: one per usable physical core
  WaitOptions::Strategy wait = WaitOptions::Strategy::adaptive;
  uint32_t spin_us = 25;  ///< under spin_park
  bool pin = true;
  bool smt = false;  ///< shards on both hardware threads of a core, too
  ThreadSetup::Scheduling scheduling = ThreadSetup::Scheduling::other;
  uint32_t scheduling_priority = 1;  ///< under fifo and rr
  bool numa_local = true;
  bool hold_cpu_latency = false;

  // Journal
  std::string data;                                   ///< directory; empty: nothing outlives a restart
  wire::Durability mode = wire::Durability::durable;  ///< with a directory; see mode_of()
  uint32_t journal_linger_us = 0;
  uint64_t journal_segment_bytes = 64ULL << 20;

  // History
  std::string store = "sqlite";  ///< with a directory; see store_of()
  uint32_t retention_days = 0;   ///< 0: for ever

  // Log
  LogLevel log_level = LogLevel::info;
  LogFormat log_format = LogFormat::text;

  // Traces
  uint32_t trace_every = 64;             ///< one message in so many has all its stages stamped
  std::string record;                    ///< file; empty: traces are not recorded
  uint32_t record_messages = 1'000'000;  ///< per shard, the latest ones

  // Demonstration
  bool demo = false;
};

/// Longest frame of a client in bytes: a text in which every byte is escaped, and the other fields.
[[nodiscard]] constexpr uint32_t frame_bytes_max(const Settings& settings) {
  return 6 * settings.max_text_bytes + 4'096;
}

/// Each shard's share of conversations-max, rounded up.
[[nodiscard]] constexpr uint32_t conversations_per_shard(const Settings& settings, uint32_t shards) {
  return settings.conversations_max / shards + (settings.conversations_max % shards != 0 ? 1 : 0);
}

/// What senders are promised: nothing without a directory.
[[nodiscard]] inline wire::Durability mode_of(const Settings& settings) {
  return settings.data.empty() ? wire::Durability::none : settings.mode;
}

/// Where history is kept behind a journal: "none", "sqlite", or the URL of a PostgreSQL.
[[nodiscard]] inline std::string store_of(const Settings& settings) {
  return mode_of(settings) == wire::Durability::none ? "none" : settings.store;
}

/// The table behind `taut serve`; it writes into `settings`, which outlives it.
[[nodiscard]] Config serve_config(Settings& settings);

/// What one row cannot say: limits that depend on each other, names that occur twice.
[[nodiscard]] Status check(const Settings& settings);

/// A token to be minted.
struct TokenSettings {
  std::vector<std::string> secret_files;  ///< the first signs
  Role role = Role::visitor;
  std::string id;
  std::string site = "demo";
  std::string name;
  std::vector<std::string> groups;  ///< agents only
  uint32_t capacity = 3;            ///< agents only: conversations at once
  uint32_t ttl_s = 3'600;
  bool open = true;  ///< visitors only: may open conversations
};

/// The table behind `taut token`; it writes into `settings`, which outlives it.
[[nodiscard]] Config token_config(TokenSettings& settings);

[[nodiscard]] Status check(const TokenSettings& settings);

}  // namespace taut::gateway
