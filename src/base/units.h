// Durations and sizes as people write them: "25s", "300ms", "16KiB".
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace taut {

/// A whole number and a unit, ns us ms s m h; a bare 0 needs none. Returns ns. Error: anything else, or more
/// than int64 holds.
[[nodiscard]] Result<int64_t> parse_duration_ns(std::string_view text);

/// A whole number and a unit, B kB MB GB (1,000) KiB MiB GiB (1,024); none means bytes. Error: anything else,
/// or more than uint64 holds.
[[nodiscard]] Result<uint64_t> parse_size_bytes(std::string_view text);

}  // namespace taut
