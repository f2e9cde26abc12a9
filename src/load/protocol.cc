#include "load/protocol.h"

#include "load/protocol_nats.h"
#include "load/protocol_relay.h"
#include "load/protocol_taut.h"

namespace taut::load {

Result<std::unique_ptr<Protocol>> make_protocol(const LoadChatOptions& options) {
  const Result<Url> url = parse_url(options.url);
  if (!url) return std::unexpected(url.error());
  if (url->scheme == "ws") return make_taut_protocol(*url, options);
  if (url->scheme == "relay") return make_relay_protocol(*url, options);
  if (url->scheme == "nats") return make_nats_protocol(*url, options);
  return fail("the scheme must be ws, relay or nats: " + options.url);
}

}  // namespace taut::load
