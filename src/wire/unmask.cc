#include "wire/unmask.h"

#include <immintrin.h>

#include <bit>
#include <cstddef>
#include <cstring>

#include "base/assert.h"

namespace taut::wire {
namespace {

using Unmask = void (*)(char* data, size_t size, uint32_t mask) noexcept;

/// Fewer than 16 bytes, at a multiple of four bytes from the payload's beginning.
inline void unmask_tail(char* data, size_t size, uint32_t mask) noexcept {
  if (size >= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    word ^= (uint64_t{mask} << 32) | mask;
    std::memcpy(data, &word, 8);
    data += 8;
    size -= 8;
  }
  if (size >= 4) {
    uint32_t word;
    std::memcpy(&word, data, 4);
    word ^= mask;
    std::memcpy(data, &word, 4);
    data += 4;
    size -= 4;
  }
  for (size_t i = 0; i < size; ++i) data[i] = static_cast<char>(data[i] ^ static_cast<char>(mask >> (8 * i)));
}

void unmask_16(char* data, size_t size, uint32_t mask) noexcept {
  const __m128i key = _mm_set1_epi32(static_cast<int>(mask));
  for (; size >= 16; data += 16, size -= 16) {
    auto* at = reinterpret_cast<__m128i*>(data);
    _mm_storeu_si128(at, _mm_xor_si128(_mm_loadu_si128(at), key));
  }
  unmask_tail(data, size, mask);
}

__attribute__((target("avx2"))) void unmask_32(char* data, size_t size, uint32_t mask) noexcept {
  const __m256i key = _mm256_set1_epi32(static_cast<int>(mask));
  for (; size >= 32; data += 32, size -= 32) {
    auto* at = reinterpret_cast<__m256i*>(data);
    _mm256_storeu_si256(at, _mm256_xor_si256(_mm256_loadu_si256(at), key));
  }
  if (size >= 16) {
    auto* at = reinterpret_cast<__m128i*>(data);
    _mm_storeu_si128(at, _mm_xor_si128(_mm_loadu_si128(at), _mm256_castsi256_si128(key)));
    data += 16;
    size -= 16;
  }
  unmask_tail(data, size, mask);
}

__attribute__((target("avx512f,avx512bw"))) void unmask_64(char* data, size_t size, uint32_t mask) noexcept {
  const __m512i key = _mm512_set1_epi32(static_cast<int>(mask));
  for (; size >= 64; data += 64, size -= 64) {
    _mm512_storeu_si512(data, _mm512_xor_si512(_mm512_loadu_si512(data), key));
  }
  if (size == 0) return;
  const __mmask64 rest = ~uint64_t{0} >> (64 - size);  // bytes outside are neither read nor written
  _mm512_mask_storeu_epi8(data, rest, _mm512_xor_si512(_mm512_maskz_loadu_epi8(rest, data), key));
}

Unmask for_width(uint32_t width) noexcept {
  return width == 64 ? unmask_64 : width == 32 ? unmask_32 : unmask_16;
}

Unmask widest() noexcept {
  for (const uint32_t width : {64U, 32U}) {
    if (unmask_supported(width)) return for_width(width);
  }
  return unmask_16;
}

const Unmask kWidest = widest();

}  // namespace

static_assert(std::endian::native == std::endian::little, "the mask's bytes are taken in memory order");

void unmask(std::span<char> payload, uint32_t mask) noexcept {
  kWidest(payload.data(), payload.size(), mask);
}

bool unmask_supported(uint32_t width) noexcept {
  __builtin_cpu_init();
  switch (width) {
    case 64:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    case 32:
      return __builtin_cpu_supports("avx2");
    case 16:
      return true;
    default:
      return false;
  }
}

void unmask_with(uint32_t width, std::span<char> payload, uint32_t mask) noexcept {
  TAUT_ASSERT(unmask_supported(width));
  for_width(width)(payload.data(), payload.size(), mask);
}

}  // namespace taut::wire
