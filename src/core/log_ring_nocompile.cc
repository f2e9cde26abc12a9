// What the compiler must refuse to log: formats that are not literals or do not match, and pointers.
#include <string>

#include "core/log_ring.h"

namespace taut {

void log_something(LogRing& log, const std::string& text) {
  log.info("text {} number {}", text, 1);
#ifdef CASE_FORMAT_FROM_A_VARIABLE
  const char local[] = {'a', '\0'};
  log.info(local);
#endif
#ifdef CASE_FORMAT_FROM_A_STRING
  log.info(text.c_str());
#endif
#ifdef CASE_TOO_FEW_ARGUMENTS
  log.info("{} {}", 1);
#endif
#ifdef CASE_TOO_MANY_ARGUMENTS
  log.info("{}", 1, 2);
#endif
#ifdef CASE_MORE_ARGUMENTS_THAN_A_RECORD_HOLDS
  log.info("{} {} {} {} {}", 1, 2, 3, 4, 5);
#endif
#ifdef CASE_A_POINTER
  log.info("{}", &log);
#endif
}

}  // namespace taut
