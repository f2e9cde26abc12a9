// Keeps idle processors from sleeping deeply, so that waking them is cheap.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace taut {

/// While it lives, the host promises to run a thread at once when it is woken: /dev/cpu_dma_latency is open
/// and says 0. All processors of the host then poll instead of halting; on our guests a wake costs 4 µs
/// instead of
/// 41. The kernel ends the promise when the file is closed, also by a crash. Any thread.
class CpuLatencyHold {
 public:
  /// Error: no such device (many containers), or not allowed; a wake then costs what it costs.
  [[nodiscard]] static Result<CpuLatencyHold> take(const std::string& device = "/dev/cpu_dma_latency");

  CpuLatencyHold(CpuLatencyHold&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  CpuLatencyHold& operator=(CpuLatencyHold&&) = delete;
  ~CpuLatencyHold();

 private:
  explicit CpuLatencyHold(int fd) noexcept : fd_(fd) {}

  int fd_;
};

}  // namespace taut
