// When to ping a connection, and when its silence means that it is gone: both in the server's own running
// time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace taut::hub {

/// Time during which this process really ran. A stopped or starved process would otherwise take its own
/// silence for its clients' and drop everybody when it wakes. Advanced by a periodic tick, and by others in
/// between where a moment matters: one that comes late counts as one and a quarter. Owner thread only.
class RunningClock {
 public:
  explicit RunningClock(int64_t tick_ns) : tick_ns_(tick_ns) {}

  void tick(int64_t now_ns) {
    if (last_ns_ != 0) running_ns_ += std::min(now_ns - last_ns_, tick_ns_ + tick_ns_ / 4);
    last_ns_ = now_ns;
  }

  [[nodiscard]] int64_t running_ns() const { return running_ns_; }
  [[nodiscard]] int64_t tick_ns() const { return tick_ns_; }

 private:
  int64_t tick_ns_;
  int64_t last_ns_ = 0;
  int64_t running_ns_ = 0;
};

/// One connection's pings: every interval whatever it receives, gone 1.5 intervals after an unanswered one.
class Liveness {
 public:
  enum class Verdict : uint8_t { wait, ping, dead };

  void start(int64_t running_ns, int64_t interval_ns) { ping_due_ns_ = running_ns + interval_ns; }

  /// A ping is on its way: the next one is scheduled and, unless an older one is unanswered, the pong is due.
  void on_ping(int64_t running_ns, int64_t interval_ns) {
    ping_due_ns_ = running_ns + interval_ns;
    if (pong_due_ns_ == 0) pong_due_ns_ = running_ns + interval_ns + interval_ns / 2;
  }
  void on_pong() { pong_due_ns_ = 0; }

  /// What to do now; `ping` until on_ping() says that there was room for one.
  [[nodiscard]] Verdict judge(int64_t running_ns) const {
    if (pong_due_ns_ != 0 && running_ns >= pong_due_ns_) return Verdict::dead;
    return running_ns < ping_due_ns_ ? Verdict::wait : Verdict::ping;
  }

  /// Running time until judge() can answer something else than wait.
  [[nodiscard]] int64_t wait_ns(int64_t running_ns) const {
    const int64_t due_ns = pong_due_ns_ == 0 ? ping_due_ns_ : std::min(ping_due_ns_, pong_due_ns_);
    return std::max<int64_t>(due_ns - running_ns, 0);
  }

 private:
  int64_t ping_due_ns_ = 0;
  int64_t pong_due_ns_ = 0;
};

}  // namespace taut::hub
