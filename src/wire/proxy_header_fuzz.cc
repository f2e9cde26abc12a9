#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "wire/proxy_header.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using taut::wire::ProxyHeader;
  const std::string_view in(reinterpret_cast<const char*>(data), size);
  const ProxyHeader got = taut::wire::parse_proxy_header(in);
  if (got.kind == ProxyHeader::Kind::header && got.size > size) std::abort();
  if (got.kind == ProxyHeader::Kind::need_more && got.size <= size) std::abort();
  return 0;
}
