#include "core/this_thread.h"

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include <cstring>

namespace taut {

Status pin_this_thread(int cpu) {
  if (cpu < 0 || cpu >= CPU_SETSIZE)
    return fail("cannot pin to cpu " + std::to_string(cpu) + ": no such cpu");
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  const int error = pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
  if (error == 0) return {};
  return fail("cannot pin to cpu " + std::to_string(cpu) + ": " + std::strerror(error));
}

void name_this_thread(const std::string& name) {
  constexpr size_t kNameBytesMax = 15;
  pthread_setname_np(pthread_self(), name.substr(0, kNameBytesMax).c_str());
}

void run_when_idle() {
  const sched_param none{};
  pthread_setschedparam(pthread_self(), SCHED_IDLE, &none);
}

void preempt_nobody() {
  const sched_param none{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &none);
}

void set_exact_timers() {
  prctl(PR_SET_TIMERSLACK, 1UL);
}

}  // namespace taut
