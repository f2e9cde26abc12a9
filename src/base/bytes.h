// Numbers in byte strings at any alignment, and wiping what must not stay in memory.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>

namespace taut {

/// Reads sizeof(T) bytes at `from`, least significant first.
template <std::unsigned_integral T>
[[nodiscard]] inline T load_le(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  return value;
}

/// Reads sizeof(T) bytes at `from`, most significant first.
template <std::unsigned_integral T>
[[nodiscard]] inline T load_be(const void* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  if constexpr (std::endian::native == std::endian::little) value = std::byteswap(value);
  return value;
}

template <std::unsigned_integral T>
inline void store_le(void* to, T value) noexcept {
  if constexpr (std::endian::native == std::endian::big) value = std::byteswap(value);
  std::memcpy(to, &value, sizeof(T));
}

template <std::unsigned_integral T>
inline void store_be(void* to, T value) noexcept {
  if constexpr (std::endian::native == std::endian::little) value = std::byteswap(value);
  std::memcpy(to, &value, sizeof(T));
}

/// Zeros that the compiler may not leave out, even if the memory is never read again.
inline void secure_wipe(void* memory, size_t size) noexcept {
  if (size == 0) return;
  std::memset(memory, 0, size);
  asm volatile("" : : "r"(memory) : "memory");
}

}  // namespace taut
