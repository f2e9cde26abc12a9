// The query of a URL: names and values, percent-decoded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace taut::gateway {

/// One thread; owns its strings.
class Query {
 public:
  /// `text` is what stands behind the '?'. Error: an escape that is none, U+0000 or bytes that are no UTF-8,
  /// a name that is not in `known`, or one that comes twice.
  [[nodiscard]] static Result<Query> parse(std::string_view text,
                                           std::initializer_list<std::string_view> known);

  /// Empty: it is not there, or empty.
  [[nodiscard]] std::string_view value(std::string_view name) const;
  /// `otherwise` where it is not there. Error: no number from `least` to `most`.
  [[nodiscard]] Result<uint64_t> number(std::string_view name, uint64_t otherwise, uint64_t least,
                                        uint64_t most) const;

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

}  // namespace taut::gateway
