#include "load/proc_stats.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace taut::load {

namespace {

namespace fs = std::filesystem;

void add_thread(const fs::path& task, ProcStats& total) {
  int64_t on_cpu_ns = 0;
  if (std::ifstream schedstat(task / "schedstat"); schedstat >> on_cpu_ns) total.cpu_ns += on_cpu_ns;
  std::ifstream status(task / "status");
  for (std::string word; status >> word;) {
    int64_t count = 0;
    if (word == "voluntary_ctxt_switches:" && status >> count) total.voluntary += count;
    if (word == "nonvoluntary_ctxt_switches:" && status >> count) total.involuntary += count;
  }
}

}  // namespace

Result<ProcStats> read_proc_stats(int pid) {
  const fs::path tasks = "/proc/" + std::to_string(pid) + "/task";
  std::error_code error;
  ProcStats total;
  for (fs::directory_iterator i(tasks, error), end; !error && i != end; i.increment(error)) {
    add_thread(i->path(), total);
  }
  if (error) return fail(tasks.string() + ": " + error.message());
  return total;
}

int64_t thread_cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

}  // namespace taut::load
