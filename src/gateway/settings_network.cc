#include "gateway/settings_network.h"

#include <string_view>

#include "base/clock.h"
#include "net/ip_address.h"

namespace taut::gateway {

namespace {

Status is_origin(std::string_view text) {
  const bool scheme = text.starts_with("https://") || text.starts_with("http://");
  const size_t host = text.find("://") + 3;
  if (scheme && text.size() > host && text.find('/', host) == std::string_view::npos) return {};
  return fail("an origin like https://example.org, without a path");
}

Status is_path_prefix(std::string_view text) {
  constexpr std::string_view kChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  const bool shape =
      text.starts_with('/') && !text.ends_with('/') && text.find("//") == std::string_view::npos;
  if (text.empty() || (shape && text.find_first_not_of(kChars) == std::string_view::npos)) return {};
  return fail("a path like /x or /x/y, of letters, digits and - . _ ~, without a slash at the end");
}

Status is_network(std::string_view text) {
  const Result<net::IpNetwork> network = net::IpNetwork::parse(text);
  return network ? Status() : std::unexpected(network.error());
}

void add_carriers(std::vector<ConfigRow>& rows, Settings& s) {
  rows.push_back(
      {.key = "listen",
       .section = "Network",
       .field = &s.listen,
       .help = "Address for WebSocket (/v1/chat) and HTTP; port 0 takes a free port and prints it"});
  rows.push_back({.key = "compact",
                  .section = "Network",
                  .field = &s.compact,
                  .help = "Address for the compact carrier over TCP; without one it is not served"});
  rows.push_back({.key = "deflate",
                  .section = "Network",
                  .field = &s.deflate,
                  .help = "Compress WebSocket messages of 1 KiB and more where the client offers "
                          "permessage-deflate: fewer bytes, for time of the shards"});
}

void add_drain(std::vector<ConfigRow>& rows, Settings& s) {
  rows.push_back(
      {.key = "drain-ms",
       .section = "Network",
       .field = &s.drain_ms,
       .help = "Time after SIGTERM in which only /readyz says that the server goes, before it does",
       .unit = Unit::ms,
       .max = kHourMs});
  rows.push_back({.key = "drain-spread-ms",
                  .section = "Network",
                  .field = &s.drain_spread_ms,
                  .help = "Time over which the goodbyes spread the clients that come back; 0 is all at once",
                  .unit = Unit::ms,
                  .max = kHourMs});
}

}  // namespace

void add_network_rows(std::vector<ConfigRow>& rows, Settings& s) {
  add_carriers(rows, s);
  rows.push_back({.key = "tls-cert",
                  .section = "Network",
                  .field = &s.tls_cert,
                  .help =
                      "File with the certificate and its chain in PEM: every listener then speaks TLS 1.2 "
                      "and 1.3 only; read again on SIGHUP",
                  .value_name = "FILE"});
  rows.push_back({.key = "tls-key",
                  .section = "Network",
                  .field = &s.tls_key,
                  .help = "File with the certificate's private key in PEM, without a passphrase",
                  .value_name = "FILE"});
  rows.push_back({.key = "origin",
                  .section = "Network",
                  .field = &s.origins,
                  .help = "Web origin whose pages may connect, beside the server's own; may repeat",
                  .value_name = "URL",
                  .check = is_origin});
  rows.push_back({.key = "path-prefix",
                  .section = "Network",
                  .field = &s.path_prefix,
                  .help = "Path below which everything is served, such as /x for /x/v1/chat",
                  .value_name = "PATH",
                  .check = is_path_prefix});
  rows.push_back({.key = "trusted-proxy",
                  .section = "Network",
                  .field = &s.trusted_proxies,
                  .help = "Network of proxies whose X-Forwarded-For names the client; may repeat",
                  .value_name = "CIDR",
                  .check = is_network});
  rows.push_back({.key = "proxy-protocol",
                  .section = "Network",
                  .field = &s.proxy_protocol,
                  .help = "Connections of trusted proxies begin with the header of PROXY version 2"});
  rows.push_back({.key = "connections-max",
                  .section = "Network",
                  .field = &s.connections_max,
                  .help = "Most connections at once; each needs one open file",
                  .min = 1,
                  .max = 10'000'000});
  rows.push_back({.key = "hello-timeout-ms",
                  .section = "Network",
                  .field = &s.hello_timeout_ms,
                  .help = "Time that a new connection has for its handshake and hello",
                  .unit = Unit::ms,
                  .min = 100,
                  .max = kHourMs});
  rows.push_back({.key = "handshake-rate",
                  .section = "Network",
                  .field = &s.handshake_rate,
                  .help = "New connections per second and burst that a shard takes in; others wait in the "
                          "kernel; 0 is no limit"});
  rows.push_back({.key = "ping-ms",
                  .section = "Network",
                  .field = &s.ping_ms,
                  .help = "Interval of pings; a connection without a pong for 1.5 of them is closed",
                  .unit = Unit::ms,
                  .min = 100,
                  .max = kHourMs});
  add_drain(rows, s);
}

}  // namespace taut::gateway
