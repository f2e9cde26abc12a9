#include "load/protocol_peer.h"

#include "load/stamp.h"

namespace taut::load {

Result<Session> PeerProtocol::open() {
  Session session;
  session.text_bytes = text_bytes_;
  for (uint32_t pair = 0; pair < pairs_; ++pair) {
    for (const Side side : {Side::receives, Side::sends}) {
      Result<Connection> connection = join(pair, side);
      if (!connection) return std::unexpected(connection.error());
      session.connections.push_back(std::move(*connection));
    }
    session.flows.push_back({.from = 2 * pair + 1, .to = 2 * pair, .frame = prototype(pair)});
  }
  return session;
}

Result<Connection> PeerProtocol::ask(std::string_view request, std::string_view end) const {
  Result<TcpSocket> socket = TcpSocket::dial(url_);
  if (!socket) return std::unexpected(socket.error());
  Connection connection{.socket = std::move(*socket), .received = {}};
  if (Status s = connection.socket.send_all(request); !s) return std::unexpected(s.error());
  while (!connection.received.ends_with(end)) {
    if (Status s = connection.socket.receive_some(connection.received); !s)
      return fail(url_.scheme + ": " + s.error().message + ", after \"" + connection.received + "\"");
  }
  return connection;
}

FramePrototype PeerProtocol::around_text(std::string head, std::string_view tail) const {
  FramePrototype frame;
  frame.stamp_at = static_cast<uint32_t>(head.size());
  frame.bytes = std::move(head);
  frame.bytes += blank_text(text_bytes_);
  frame.bytes += tail;
  return frame;
}

}  // namespace taut::load
