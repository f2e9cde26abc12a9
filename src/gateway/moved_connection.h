// A connection between two threads: all of it, so that the receiver goes on where the sender stopped.
#pragma once

#include <string>

#include "base/secret_string.h"
#include "gateway/carrier.h"
#include "net/byte_stream.h"
#include "wire/websocket.h"

namespace taut::gateway {

/// Made by the shard that read first, deleted by the one that takes over. The HTTP service ignores the
/// decoder.
struct MovedConnection {
  net::ByteStream stream;
  net::IpAddress client;
  Carrier carrier = Carrier::websocket;
  wire::WsDecoder decoder{wire::WsDecoder::Peer::client};  ///< netstrings need no memory of what came before
  SecretString unread;                                     ///< not understood yet, the hello included
  std::string unsent;                                      ///< not written yet: the answer to the handshake
};

}  // namespace taut::gateway
