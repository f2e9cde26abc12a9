#include "load/protocol.h"

#include <array>

#include "load/protocol_mqtt.h"
#include "load/protocol_nats.h"
#include "load/protocol_redis.h"
#include "load/protocol_relay.h"
#include "load/protocol_socketio.h"
#include "load/protocol_taut.h"
#include "load/protocol_ws.h"

namespace taut::load {

namespace {

struct Peer {
  std::string_view scheme;
  std::unique_ptr<Protocol> (*make)(const Url& url, const LoadChatOptions& options);
};

constexpr std::array kPeers{
    Peer{"relay", make_relay_protocol}, Peer{"nats", make_nats_protocol},
    Peer{"redis", make_redis_protocol}, Peer{"mqtt", make_mqtt_protocol},
    Peer{"wsrelay", make_ws_protocol},  Peer{"socketio", make_socketio_protocol},
};

}  // namespace

Result<std::unique_ptr<Protocol>> make_protocol(const LoadChatOptions& options) {
  const Result<Url> url = parse_url(options.url);
  if (!url) return std::unexpected(url.error());
  if (url->scheme == "ws" || url->scheme == "tcp" || url->encrypted())
    return make_taut_protocol(*url, options);
  std::string known = "ws, wss, tcp";
  for (const Peer& peer : kPeers) {
    known.append(", ").append(peer.scheme);
    if (url->scheme != peer.scheme) continue;
    if (options.direction != Direction::visitor) return fail("--direction is for ws:// and tcp:// only");
    return peer.make(*url, options);
  }
  return fail("the scheme must be one of " + known + ": " + options.url);
}

}  // namespace taut::load
