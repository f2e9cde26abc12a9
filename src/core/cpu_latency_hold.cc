#include "core/cpu_latency_hold.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>

#include "base/spin_locks_held.h"

namespace taut {

Result<CpuLatencyHold> CpuLatencyHold::take(const std::string& device) {
  assert_no_spin_lock_held();
  const int fd = open(device.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return fail_errno(device);
  CpuLatencyHold hold(fd);
  constexpr int32_t kLatencyUsMax = 0;
  if (write(fd, &kLatencyUsMax, sizeof(kLatencyUsMax)) != sizeof(kLatencyUsMax)) return fail_errno(device);
  return hold;
}

CpuLatencyHold::~CpuLatencyHold() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace taut
