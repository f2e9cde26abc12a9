// How a measured run ends: its report on standard output and in a file, its complaint, its exit code.
#pragma once

#include <optional>
#include <string>

#include "load/latency_report.h"

namespace taut::load {

/// What a server has cost between two moments. Reading /proc stalls the client for longer than a message
/// takes: call both while nothing is in flight, as far as there is such a time.
class ServerMeter {
 public:
  /// pid 0: nobody is measured. Error: no such process.
  [[nodiscard]] static Result<ServerMeter> begin(int pid);
  [[nodiscard]] Result<std::optional<ProcStats>> end() const;

 private:
  int pid_ = 0;
  ProcStats before_;
};

/// `json`: a file for the report, or empty. Returns kExitOk, kExitFailed or kExitVoid.
[[nodiscard]] int report_run(const Result<ChatReport>& report, const std::string& json, const char* command);

}  // namespace taut::load
