// Any bytes as a compact stream: splitting it at random points changes nothing, and every body is read or
// refused with words.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "wire/chat_reader.h"
#include "wire/netstring_feed.h"
#include "wire/utf8.h"

namespace {

using namespace taut::wire;

constexpr uint32_t kBodyBytesMax = 512;  // small, so that the fuzzer reaches it

void check_body(std::string_view body) {
  static ChatReader reader;
  std::vector<char> frame(body.begin(), body.end());
  frame.resize(body.size() + kReadablePadding);
  frame.shrink_to_fit();
  const ReadStatus status = reader.read_compact(std::span(frame).first(body.size()));
  TAUT_ASSERT(status != ReadStatus::broken_utf8);
  if (status == ReadStatus::error) return TAUT_ASSERT(!reader.error().message.empty());
  const ClientMessage& message = reader.message();
  TAUT_ASSERT(validate_utf8(message.text) && message.text.find('\0') == std::string_view::npos);
  TAUT_ASSERT(message.conversation.empty() || taut::valid_id(message.conversation));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kStreamBytesMax = 2'000;  // every call copies what is kept
  if (size == 0 || size > kStreamBytesMax) return 0;
  std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
  NetstringFeed whole(kBodyBytesMax);
  whole.feed(stream);

  std::minstd_rand random(data[0]);
  const size_t piece_max = 1 + data[0] % 40U;
  NetstringFeed split(kBodyBytesMax);
  while (!stream.empty()) {
    const size_t piece = std::min<size_t>(stream.size(), 1 + random() % piece_max);
    split.feed(stream.substr(0, piece));
    stream.remove_prefix(piece);
  }
  TAUT_ASSERT(whole == split);
  for (const std::string& body : whole.bodies()) check_body(body);
  return 0;
}
