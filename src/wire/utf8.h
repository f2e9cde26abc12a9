// Whether bytes are UTF-8.
#pragma once

#include <string_view>

namespace taut::wire {

/// Strict: no surrogates, no overlong forms, nothing above U+10FFFF. Any thread.
[[nodiscard]] bool validate_utf8(std::string_view bytes) noexcept;

}  // namespace taut::wire
