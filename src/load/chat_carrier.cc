#include "load/chat_carrier.h"

namespace taut::load {

const ChatCarrier& chat_carrier(const Url& url) {
  return url.scheme == "tcp" ? compact_carrier() : websocket_carrier();
}

}  // namespace taut::load
