// `taut version`: which taut this is.
#include <cstdio>

#include "main/command.h"

namespace taut {

int run_version(Arguments arguments) {
  if (!arguments.empty()) {
    std::puts("Usage: taut version\n\nPrints the version.");
    return arguments[0] == std::string_view("--help") ? kExitOk : kExitUsage;
  }
  std::puts("taut " TAUT_VERSION);
  return kExitOk;
}

}  // namespace taut
