// Test support: what a record says as JSON text.
#pragma once

#include <string>
#include <variant>

#include "wire/record_reader.h"

namespace taut::wire {

/// Written into exactly max_size bytes.
template <class M>
[[nodiscard]] std::string payload_of(const M& m) {
  std::string json(max_size(m), '\0');
  if constexpr (requires { write(json, m).size; }) {
    json.resize(write(json, m).size);
  } else {
    json.resize(write(json, m));
  }
  return json;
}

[[nodiscard]] inline std::string payload_of(const ItemObject& item) {
  return std::visit([](const auto& object) { return payload_of(object); }, item);
}

}  // namespace taut::wire
