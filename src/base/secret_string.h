// Strings whose memory is wiped when it is given back: for what may hold a token or a password.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/bytes.h"

namespace taut {

/// Wipes all of an allocation before Upstream gets it back. Any thread, as Upstream.
template <class T, class Upstream = std::allocator<T>>
struct WipingAllocator {
  using value_type = T;
  template <class U>
  struct rebind {
    using other = WipingAllocator<U, typename std::allocator_traits<Upstream>::template rebind_alloc<U>>;
  };

  WipingAllocator() = default;
  template <class U, class V>
  explicit(false) WipingAllocator(const WipingAllocator<U, V>& /*other*/) noexcept {}

  [[nodiscard]] T* allocate(size_t count) { return Upstream().allocate(count); }
  void deallocate(T* memory, size_t count) noexcept {
    secure_wipe(memory, count * sizeof(T));
    Upstream().deallocate(memory, count);
  }
  friend bool operator==(const WipingAllocator& /*a*/, const WipingAllocator& /*b*/) { return true; }
};

/// Longer than 15 bytes, as every token is: shorter ones live inside the object and are not wiped.
using SecretString = std::basic_string<char, std::char_traits<char>, WipingAllocator<char>>;

}  // namespace taut
