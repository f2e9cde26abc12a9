// The rule for everything that crosses a thread: trivially copyable, and no view inside, however deep.
#pragma once

#include <array>
#include <boost/pfr/core.hpp>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/handle.h"

namespace taut {

/// A class with private fields cannot be walked, so it is refused until somebody who has read it vouches for
/// it here or beside the class: `template <> inline constexpr bool kVouchedFreeOfViews<Mine> = true;`
template <class T>
inline constexpr bool kVouchedFreeOfViews = false;
template <>
inline constexpr bool kVouchedFreeOfViews<Handle> = true;

namespace internal {

template <class T>
struct IsStdArray : std::false_type {};
template <class T, size_t N>
struct IsStdArray<std::array<T, N>> : std::true_type {};

template <class T>
consteval bool free_of_views();

template <class T, size_t... I>
consteval bool fields_free_of_views(std::index_sequence<I...>) {
  return (free_of_views<boost::pfr::tuple_element_t<I, T>>() && ...);
}

/// Numbers, enums and pointers are free (a pointer in a ring names a block whose ownership travels with it);
/// arrays are what their elements are; a struct is what all its fields are; everything else needs a voucher.
/// Views are classes with private fields, so they fall under "everything else" without being listed.
template <class T>
consteval bool free_of_views() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_arithmetic_v<U> || std::is_enum_v<U> || std::is_pointer_v<U> ||
                std::is_same_v<U, std::byte> || kVouchedFreeOfViews<U>) {
    return true;
  } else if constexpr (std::is_array_v<U>) {
    return free_of_views<std::remove_all_extents_t<U>>();
  } else if constexpr (IsStdArray<U>::value) {
    return free_of_views<typename U::value_type>();
  } else if constexpr (std::is_class_v<U> && std::is_aggregate_v<U>) {
    return fields_free_of_views<U>(std::make_index_sequence<boost::pfr::tuple_size_v<U>>{});
  } else {
    return false;
  }
}

}  // namespace internal

/// What a ring, a mail or a stored field may hold. Structs use std::array, not C arrays (they cannot be
/// walked).
template <class T>
concept RingElement = std::is_trivially_copyable_v<T> && internal::free_of_views<T>();

}  // namespace taut
