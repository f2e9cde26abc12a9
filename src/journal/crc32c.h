// CRC-32C (Castagnoli), the check sum of the journal's files.
#pragma once

#include <cstdint>
#include <string_view>

namespace taut::journal {

/// Of `bytes`, going on from the check sum of what stands before them; so crc32c(b, crc32c(a)) is that of a
/// and b together. With the processor's instruction where it has one (SSE 4.2, about 5 GB/s). Any thread.
[[nodiscard]] uint32_t crc32c(std::string_view bytes, uint32_t before = 0) noexcept;

/// The same without that instruction; for processors that lack it, and for tests.
[[nodiscard]] uint32_t crc32c_by_table(std::string_view bytes, uint32_t before = 0) noexcept;

}  // namespace taut::journal
