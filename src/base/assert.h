// Checks that stay in every build: a failed one is our bug and ends the process with one line.
#pragma once

#include <string>

namespace taut {

/// Prints "file:line: assertion failed: text" to standard error and aborts. Any thread.
[[noreturn]] void assert_failed(const char* text, const char* file, int line) noexcept;

/// For what neither we nor a user did wrong, and after which nothing can be promised any more: prints the
/// line to standard error and ends the process with kExitFailed. Any thread.
[[noreturn]] void end_process(const std::string& why) noexcept;

}  // namespace taut

/// Holds in release too; the condition must be cheap (a compare, not a loop).
#define TAUT_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::taut::assert_failed(#condition, __FILE__, __LINE__))

/// For a place that no valid state reaches; `text` says what would have come there.
#define TAUT_UNREACHABLE(text) ::taut::assert_failed(text, __FILE__, __LINE__)

/// For checks that cost something (thread ids, walks); only in debug and sanitizer builds.
#ifdef TAUT_DEBUG
#define TAUT_DCHECK(condition) TAUT_ASSERT(condition)
#else
#define TAUT_DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#endif
