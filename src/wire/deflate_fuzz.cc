// Any bytes as a compressed message: nothing breaks, nothing becomes too long, and what is read does not
// depend on what came before. Any bytes as a message: compressed and inflated it is the same again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "wire/deflate.h"

namespace {

constexpr uint32_t kMessageBytesMax = 16'384;

std::string read(taut::wire::Inflater& inflater, std::string_view payload) {
  const taut::wire::Inflated result = inflater.inflate({payload.data(), payload.size()});
  if (result.close_code != taut::wire::CloseCode::none) {
    TAUT_ASSERT(result.message.empty());
    return std::string(result.reason);
  }
  TAUT_ASSERT(result.message.size() <= kMessageBytesMax);
  return {result.message.data(), result.message.size()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static taut::wire::Inflater used(kMessageBytesMax);
  static taut::wire::Deflater deflater(kMessageBytesMax);
  if (size > kMessageBytesMax) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  taut::wire::Inflater fresh(kMessageBytesMax);
  TAUT_ASSERT(read(used, bytes) == read(fresh, bytes));
  const std::string_view payload = deflater.deflate(bytes);
  if (!payload.empty()) TAUT_ASSERT(payload.size() < bytes.size() && read(used, payload) == bytes);
  return 0;
}
