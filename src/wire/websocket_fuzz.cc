// Any bytes as a WebSocket stream: nothing breaks, and splitting the stream at random points changes no
// outcome.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>

#include "base/assert.h"
#include "wire/websocket_feed.h"

namespace {

constexpr uint32_t kMessageBytesMax = 512;  // small, so that the fuzzer reaches it

void check(taut::wire::WsDecoder::Peer peer, bool deflate, uint64_t seed, std::string_view stream) {
  taut::wire::WsFeed whole(peer, kMessageBytesMax, deflate);
  whole.feed(stream);

  std::minstd_rand random(static_cast<uint32_t>(seed));
  const size_t piece_max = 1 + seed % 40;
  taut::wire::WsFeed split(peer, kMessageBytesMax, deflate);
  while (!stream.empty()) {
    const size_t piece = std::min(stream.size(), 1 + random() % piece_max);
    split.feed(stream.substr(0, piece));
    stream.remove_prefix(piece);
  }
  TAUT_ASSERT(whole.seen() == split.seen());
  for (const taut::wire::WsSeen& seen : whole.seen()) TAUT_ASSERT(deflate || !seen.deflated);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kStreamBytesMax =
      2'000;  // enough for several messages of the limit; every call copies what is kept
  if (size == 0 || size > kStreamBytesMax) return 0;
  const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  check(taut::wire::WsDecoder::Peer::client, false, data[0], stream);
  check(taut::wire::WsDecoder::Peer::client, true, data[0], stream);
  check(taut::wire::WsDecoder::Peer::server, false, data[0], stream);
  return 0;
}
