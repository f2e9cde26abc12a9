// XOR of a payload with its four-byte mask key, as wide as the processor allows.
#pragma once

#include <cstdint>
#include <span>

namespace taut::wire {

/// In place; masking and unmasking are the same. `mask` is the key as the four bytes lie in memory. Any
/// alignment and length; touches nothing outside. Uses AVX-512, AVX2 or SSE2, whichever the processor has.
/// Any thread.
void unmask(std::span<char> payload, uint32_t mask) noexcept;

/// One width, for tests and benchmarks: 64, 32 or 16 bytes. REQUIRES: unmask_supported(width).
void unmask_with(uint32_t width, std::span<char> payload, uint32_t mask) noexcept;
[[nodiscard]] bool unmask_supported(uint32_t width) noexcept;

}  // namespace taut::wire
