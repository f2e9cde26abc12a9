#include "core/log_thread.h"

#include <fmt/args.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "base/spin_locks_held.h"

namespace taut {

namespace {

constexpr std::array<std::string_view, 5> kLevelNames = {"debug", "info", "warn", "error", "off"};
constexpr std::array kSpdlogLevels = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                      spdlog::level::err, spdlog::level::off};

std::string_view name_of(LogLevel level) {
  return kLevelNames[static_cast<size_t>(level)];
}

/// Standard error, line by line as they are; the only thread that writes is ours.
LogThread::Sink standard_error() {
  auto logger = std::make_shared<spdlog::logger>("taut", std::make_shared<spdlog::sinks::stderr_sink_st>());
  logger->set_pattern("%v");
  logger->set_level(spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);
  return [logger](LogLevel level, std::string_view line) {
    logger->log(kSpdlogLevels[static_cast<size_t>(level)], spdlog::string_view_t(line.data(), line.size()));
  };
}

void push_argument(fmt::dynamic_format_arg_store<fmt::format_context>& store, const LogRecord& record,
                   size_t i) {
  using Kind = LogRecord::Kind;
  const uint64_t bits = record.values[i];
  switch (record.kinds[i]) {
    case Kind::signed_number:
      return store.push_back(static_cast<int64_t>(bits));
    case Kind::unsigned_number:
      return store.push_back(bits);
    case Kind::floating:
      return store.push_back(std::bit_cast<double>(bits));
    case Kind::boolean:
      return store.push_back(bits != 0);
    case Kind::character:
      return store.push_back(static_cast<char>(bits));
    case Kind::text:
      return store.push_back(std::string_view(record.text.data() + (bits >> 32), bits & 0xFFFF'FFFFU));
  }
}

/// A format that does not suit its arguments ("{:d}" for a text) still says what it can: the format itself.
std::string message_of(const LogRecord& record) {
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  for (size_t i = 0; i < record.count; ++i) push_argument(arguments, record, i);
  std::string message;
  try {
    message = fmt::vformat(record.format, arguments);
  } catch (const fmt::format_error&) {
    message = record.format;
  }
  if (record.cut) message += "...";
  return message;
}

std::string time_of(int64_t wall_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> at{std::chrono::milliseconds(wall_ms)};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)), (at - seconds).count());
}

/// Clients choose ids and reasons: nothing they send may start a line of its own or move a terminal's cursor.
std::string escaped(std::string_view text, bool json) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (json && (c == '"' || c == '\\')) {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

LogThread::LogThread(Options options, Clock& clock, const std::vector<LogRing*>& rings)
    : sink_(options.sink ? std::move(options.sink) : standard_error()),
      format_(options.format),
      clock_(clock) {
  for (LogRing* const ring : rings) sources_.push_back({.ring = ring});
}

LogThread::~LogThread() {
  stop();
}

void LogThread::start() {
  TAUT_ASSERT(!thread_.joinable());
  stopping_ = false;
  thread_ = std::thread([this] { run(); });
}

void LogThread::stop() {
  if (!thread_.joinable()) return;
  assert_no_spin_lock_held();
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void LogThread::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    look();
    lock.lock();
    wake_.wait_for(lock, std::chrono::milliseconds(kLookEveryMs), [this] { return stopping_; });
  }
  lock.unlock();
  look();
}

void LogThread::look() {
  for (Source& source : sources_) {
    source.ring->drain([&](const LogRecord& record) { write(record, source.ring->source()); });
    say_dropped(source);
  }
}

void LogThread::write(const LogRecord& record, uint32_t source) {
  say(record.level, record.wall_ms != 0 ? record.wall_ms : clock_.wall_ms(), source, message_of(record));
}

void LogThread::say_dropped(Source& source) {
  const uint64_t dropped = source.ring->dropped();
  if (dropped == source.dropped_said) return;
  say(LogLevel::warn, clock_.wall_ms(), source.ring->source(),
      fmt::format("{} log records dropped, the ring was full", dropped - source.dropped_said));
  source.dropped_said = dropped;
}

void LogThread::say(LogLevel level, int64_t wall_ms, uint32_t source, std::string_view message) {
  if (format_ == Format::json) {
    sink_(level, fmt::format(R"({{"time":"{}","level":"{}","shard":{},"message":"{}"}})", time_of(wall_ms),
                             name_of(level), source, escaped(message, true)));
  } else {
    sink_(level, fmt::format("{} {:5} shard {}: {}", time_of(wall_ms), name_of(level), source,
                             escaped(message, false)));
  }
}

}  // namespace taut
