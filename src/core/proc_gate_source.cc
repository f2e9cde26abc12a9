#include "core/proc_gate_source.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <utility>

#include "base/spin_locks_held.h"
#include "core/cgroup.h"

namespace taut {
namespace {

/// Levels of cgroups that are looked at, ours first.
constexpr size_t kThrottleFilesMax = 4;

/// Enough for the first lines of every file we read.
using Text = std::array<char, 512>;

std::string_view read_start(int fd, Text& text) {
  if (fd < 0) return {};
  const ssize_t size = pread(fd, text.data(), text.size(), 0);
  return size > 0 ? std::string_view(text.data(), static_cast<size_t>(size)) : std::string_view{};
}

/// Takes the next number and what stands before it; false when there is none.
template <class T>
bool take_number(std::string_view& text, T& value) {
  const size_t start = text.find_first_of("0123456789");
  if (start == std::string_view::npos) return false;
  text.remove_prefix(start);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

namespace internal {

void parse_stat(std::string_view text, GateReading& reading) {
  if (!text.starts_with("cpu ")) return;
  // user nice system idle iowait irq softirq steal; guest times behind them are in user already.
  constexpr size_t kFields = 8;
  constexpr size_t kSteal = 7;
  std::string_view line = text.substr(0, text.find('\n'));
  uint64_t total = 0;
  uint64_t steal = 0;
  for (size_t i = 0; i < kFields; ++i) {
    uint64_t ticks = 0;
    if (!take_number(line, ticks)) return;
    total += ticks;
    if (i == kSteal) steal = ticks;
  }
  reading.total_ticks = total;
  reading.steal_ticks = steal;
}

int64_t parse_run_delay_ns(std::string_view text) {
  int64_t running_ns = 0;
  int64_t delay_ns = 0;
  return take_number(text, running_ns) && take_number(text, delay_ns) ? delay_ns : 0;
}

uint64_t parse_throttled(std::string_view text) {
  constexpr std::string_view kKey = "nr_throttled ";
  const size_t at = text.find(kKey);
  if (at == std::string_view::npos) return 0;
  text.remove_prefix(at + kKey.size());
  uint64_t count = 0;
  return take_number(text, count) ? count : 0;
}

}  // namespace internal

ProcGateSource::ProcGateSource(std::string root) : root_(std::move(root)) {}

ProcGateSource::~ProcGateSource() {
  if (stat_fd_ >= 0) close(stat_fd_);
  if (schedstat_fd_ >= 0) close(schedstat_fd_);
  for (const int fd : throttle_fds_) close(fd);
}

void ProcGateSource::open_all() {
  opened_ = true;
  const auto open_file = [](const std::string& path) { return open(path.c_str(), O_RDONLY | O_CLOEXEC); };
  stat_fd_ = open_file(root_ + "/proc/stat");
  schedstat_fd_ = open_file(root_ + "/proc/thread-self/schedstat");
  for (const std::string& path : find_cpu_cgroup(root_).paths) {
    const int fd = open_file(path + "/cpu.stat");
    if (fd >= 0) throttle_fds_.push_back(fd);
    if (throttle_fds_.size() == kThrottleFilesMax) break;
  }
}

GateReading ProcGateSource::read(int64_t now_ns) noexcept {
  assert_no_spin_lock_held();
  if (!opened_) open_all();
  Text text;
  GateReading reading{.at_ns = now_ns};
  internal::parse_stat(read_start(stat_fd_, text), reading);
  reading.run_delay_ns = internal::parse_run_delay_ns(read_start(schedstat_fd_, text));
  for (const int fd : throttle_fds_) reading.throttled += internal::parse_throttled(read_start(fd, text));
  return reading;
}

}  // namespace taut
