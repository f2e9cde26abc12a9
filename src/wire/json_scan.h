// Two looks at raw JSON that a parsed tree cannot answer: broken escapes, and where a member's text stands.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace taut::wire {

/// broken: one or more stood for a lone surrogate or for U+0000.
enum class Escapes : uint8_t { none, sound, broken };

/// Replaces each broken escape by \ufffd, in place and of the same size, so that a parser can still read the
/// rest. Any bytes; costs one memchr where there is no backslash. Any thread.
Escapes repair_escapes(std::span<char> json) noexcept;

/// The raw text of the value of an object's n-th member, counted from 0, without blanks around it.
/// REQUIRES: json is one valid JSON object with more than n members. Any thread.
[[nodiscard]] std::string_view raw_member(std::string_view json, uint32_t n) noexcept;

}  // namespace taut::wire
