// Evidence against spinning: stolen time, threads that wait for a processor, a throttled cgroup.
//
// Spinning helps only while the processor is really ours. In a throttled container it eats the quota that the
// next message needs and turns into 100 ms tails; on a crowded host it delays our own threads. So whoever
// wants to spin shows the gate a reading every 100 ms, and the gate says for how long spinning is off.
#pragma once

#include <array>
#include <cstdint>

namespace taut {

/// Counters of the host at one moment; all only grow. A source that cannot read one leaves it at 0, which is
/// clean.
struct GateReading {
  int64_t at_ns = 0;
  uint64_t steal_ticks = 0;  ///< of all processors, /proc/stat
  uint64_t total_ticks = 0;  ///< idle included
  int64_t run_delay_ns = 0;  ///< this thread was ready and had no processor
  uint64_t throttled = 0;    ///< times our cgroup, or one above it, ran out of quota
};

/// Where readings come from: the kernel (proc_gate_source.h) or a test. Called by the thread that wants to
/// spin.
class GateSource {
 public:
  GateSource() = default;
  GateSource(const GateSource&) = delete;
  GateSource& operator=(const GateSource&) = delete;
  virtual ~GateSource() = default;
  [[nodiscard]] virtual GateReading read(int64_t now_ns) noexcept = 0;
};

/// Pure decision, one thread.
class SpinGate {
 public:
  static constexpr int64_t kReadEveryNs = 100'000'000;
  /// More than this share of the window lost to steal, or to the run queue, closes the gate.
  static constexpr int64_t kLostPercentMax = 5;
  /// Closing again this soon after opening doubles the time it stays closed.
  static constexpr int64_t kRelapseNs = 10'000'000'000;

  struct Options {
    int64_t window_ns = 1'000'000'000;     ///< how far back evidence counts; at most kReadings × kReadEveryNs
    int64_t hold_min_ns = 1'000'000'000;   ///< closed at least this long
    int64_t hold_max_ns = 30'000'000'000;  ///< doubling ends here
    int64_t clean_before_ns = 0;           ///< clean evidence needed before the gate opens for the first time
  };
  /// The first usable_cores − 1 spinners begin open; the others earn it with a clean second. With one usable
  /// core: open whenever the last 200 ms were clean.
  [[nodiscard]] static Options options_for(uint32_t spinner, uint32_t usable_cores);

  explicit SpinGate(const Options& options) : options_(options), hold_ns_(options.hold_min_ns) {}

  /// True when the next reading is due; ask only when spinning is wanted, so that a parked thread reads
  /// nothing.
  [[nodiscard]] bool reading_due(int64_t now_ns) const noexcept { return now_ns >= next_reading_ns_; }
  void feed(const GateReading& reading) noexcept;
  [[nodiscard]] bool open(int64_t now_ns) const noexcept { return now_ns >= closed_until_ns_; }
  /// Times the gate closed on evidence.
  [[nodiscard]] uint64_t closures() const noexcept { return closures_; }

 private:
  static constexpr uint32_t kReadings = 16;

  [[nodiscard]] bool clean(const GateReading& oldest, const GateReading& newest) const noexcept;
  [[nodiscard]] const GateReading& oldest_in_window(int64_t now_ns) const noexcept;
  void close(int64_t now_ns) noexcept;

  const Options options_;
  std::array<GateReading, kReadings> readings_{};
  uint64_t fed_ = 0;
  int64_t next_reading_ns_ = INT64_MIN;
  int64_t closed_until_ns_ = INT64_MIN;
  int64_t hold_ns_;
  uint64_t closures_ = 0;
};

}  // namespace taut
