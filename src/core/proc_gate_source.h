// Gate readings from /proc and the cgroup file system of the host.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/spin_gate.h"

namespace taut {

/// Reads for the thread that calls read() first. Files are opened there and kept open; what is missing reads
/// as 0. One read takes about 20 µs, nearly all of it /proc/stat.
class ProcGateSource final : public GateSource {
 public:
  /// `root` is put before every path; empty outside tests.
  explicit ProcGateSource(std::string root = {});
  ~ProcGateSource() override;
  [[nodiscard]] GateReading read(int64_t now_ns) noexcept override;

 private:
  void open_all();

  const std::string root_;
  bool opened_ = false;
  int stat_fd_ = -1;
  int schedstat_fd_ = -1;
  std::vector<int> throttle_fds_;
};

namespace internal {
/// The first line of /proc/stat into steal and total; untouched when it does not parse.
void parse_stat(std::string_view text, GateReading& reading);
/// The second number of schedstat; 0 when it does not parse.
[[nodiscard]] int64_t parse_run_delay_ns(std::string_view text);
/// nr_throttled of cpu.stat (both cgroup versions); 0 when it is not there.
[[nodiscard]] uint64_t parse_throttled(std::string_view text);
}  // namespace internal

}  // namespace taut
