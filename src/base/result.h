// Failure as a value: Result<T> holds a T or an Error that a person can read.
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace taut {

/// What went wrong, in words that name the thing, the reason and, where there is one, the remedy.
struct Error {
  std::string message;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline std::unexpected<Error> fail(std::string message) {
  return std::unexpected(Error{std::move(message)});
}

/// "what: No such file or directory" from errno as it is now. Any thread.
[[nodiscard]] std::unexpected<Error> fail_errno(std::string what);

/// For what only gives space back: if it fails, that space is lost and nothing else.
inline void best_effort(const Status&) {}

}  // namespace taut
