#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace taut {

void assert_failed(const char* text, const char* file, int line) noexcept {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, text);
  std::abort();
}

}  // namespace taut
