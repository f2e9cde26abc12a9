#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

#include "base/exit_code.h"

namespace taut {

void assert_failed(const char* text, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, text);
  std::abort();
}

void end_process(const std::string& why) noexcept {
  std::fprintf(stderr, "taut: %s\n", why.c_str());
  std::_Exit(kExitFailed);
}

}  // namespace taut
