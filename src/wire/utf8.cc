#include "wire/utf8.h"

#include <simdjson.h>

namespace taut::wire {

bool validate_utf8(std::string_view bytes) noexcept {
  return simdjson::validate_utf8(bytes.data(), bytes.size());
}

}  // namespace taut::wire
