#include "base/result.h"

#include <cerrno>
#include <system_error>

namespace taut {

std::unexpected<Error> fail_errno(std::string what) {
  return fail(std::move(what) + ": " + std::generic_category().message(errno));
}

}  // namespace taut
