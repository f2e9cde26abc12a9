// The thread that turns log records into lines on standard error.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "core/log_ring.h"

namespace taut {

/// Drains all rings, oldest record of each first, every kLookEveryMs and once more at stop. Constructed,
/// started and stopped by one thread (main); the rings' producers never notice it. Lines say what was
/// dropped.
class LogThread {
 public:
  static constexpr int64_t kLookEveryMs = 100;

  enum class Format : uint8_t { text, json };
  /// Gets whole lines without the line feed, on the log thread. An empty one means standard error through
  /// spdlog.
  using Sink = std::function<void(LogLevel level, std::string_view line)>;

  struct Options {
    Format format = Format::text;
    Sink sink;
  };

  /// Clock and rings outlive the object.
  LogThread(Options options, Clock& clock, const std::vector<LogRing*>& rings);
  LogThread(const LogThread&) = delete;
  LogThread& operator=(const LogThread&) = delete;
  /// stop().
  ~LogThread();

  void start();
  /// Drains what is there, then joins. Producers must have stopped, or their last records stay unsaid.
  void stop();

  /// One look at every ring, for programs without the thread (the simulator). REQUIRES: not started.
  void look();

 private:
  struct Source {
    LogRing* ring;
    uint64_t dropped_said = 0;
  };

  void run();
  void write(const LogRecord& record, uint32_t source);
  void say_dropped(Source& source);
  void say(LogLevel level, int64_t wall_ms, uint32_t source, std::string_view message);

  Sink sink_;
  const Format format_;
  Clock& clock_;
  std::vector<Source> sources_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  ///< under mutex_
  std::thread thread_;
};

}  // namespace taut
