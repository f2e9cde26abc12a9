#include "load/report_run.h"

#include <cstdio>
#include <fstream>

#include "base/exit_code.h"

namespace taut::load {

namespace {

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path, std::ios::trunc);
  out << text;
  out.flush();
  return out ? Status() : Status(fail("cannot write " + path));
}

}  // namespace

Result<ServerMeter> ServerMeter::begin(int pid) {
  ServerMeter meter;
  meter.pid_ = pid;
  if (pid == 0) return meter;
  const Result<ProcStats> before = read_proc_stats(pid);
  if (!before) return std::unexpected(before.error());
  meter.before_ = *before;
  return meter;
}

Result<std::optional<ProcStats>> ServerMeter::end() const {
  if (pid_ == 0) return std::nullopt;
  const Result<ProcStats> after = read_proc_stats(pid_);
  if (!after) return std::unexpected(after.error());
  return *after - before_;
}

int report_run(const Result<ChatReport>& report, const std::string& json, const char* command) {
  Status status = report ? Status() : Status(std::unexpected(report.error()));
  if (status && !json.empty()) status = write_file(json, to_json(*report));
  if (!status) {
    std::fprintf(stderr, "%s: %s\n", command, status.error().message.c_str());
    return kExitFailed;
  }
  std::fputs(to_text(*report).c_str(), stdout);
  const std::string reason = void_reason(*report);
  if (reason.empty()) return kExitOk;
  std::fprintf(stderr, "%s: void: %s\n", command, reason.c_str());
  return kExitVoid;
}

}  // namespace taut::load
