// How a shard says something: a fixed-size record into its own ring, formatted later by the log thread.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>

#include "base/assert.h"

namespace taut {

enum class LogLevel : uint8_t { debug, info, warn, error, off };

/// What a record can carry: numbers, bools, single characters, enums as their number, and text (copied, cut
/// at LogRecord::kTextBytes for all texts of the record together).
template <class T>
concept LogArgument =
    std::is_arithmetic_v<T> || std::is_enum_v<T> || std::convertible_to<const T&, std::string_view>;

/// One line to be: the format as a pointer to a literal, the arguments as bits.
struct LogRecord {
  static constexpr size_t kArgumentsMax = 4;
  static constexpr size_t kTextBytes = 72;
  enum class Kind : uint8_t { signed_number, unsigned_number, floating, boolean, character, text };

  const char* format;
  int64_t wall_ms;                             ///< 0: the log thread's time when it finds the record
  std::array<uint64_t, kArgumentsMax> values;  ///< of a text: its offset in `text` << 32 | its size
  std::array<Kind, kArgumentsMax> kinds;
  LogLevel level;
  uint8_t count;
  uint8_t text_size;
  bool cut;  ///< some text did not fit whole
  std::array<char, kTextBytes> text;
};
static_assert(sizeof(LogRecord) == 128);

/// A format string of the fmt library that is a literal and has one placeholder for each argument, checked by
/// the compiler: only its address is kept.
template <class... Args>
struct LogFormat {
  template <size_t N>
  consteval LogFormat(const char (&literal)[N]) : text(literal) {  // NOLINT(google-explicit-constructor)
    size_t placeholders = 0;
    for (size_t i = 0; i + 1 < N; ++i) {
      if (literal[i] != '{') continue;
      if (literal[i + 1] == '{') {
        ++i;
      } else {
        ++placeholders;
      }
    }
    if (placeholders != sizeof...(Args)) throw "a log format needs one {} for each argument";
  }
  const char* text;
};

/// A ring of records from one thread to the log thread. A full ring drops the record and counts it; nothing
/// ever waits, allocates or enters the kernel. The members up to producer's end belong to the one producer
/// thread.
class LogRing {
 public:
  static constexpr uint32_t kRecordsDefault = 1024;

  /// `source` is what the log thread prints as shard. REQUIRES: records is a power of two.
  explicit LogRing(uint32_t source = 0, LogLevel level = LogLevel::info, uint32_t records = kRecordsDefault);
  LogRing(const LogRing&) = delete;
  LogRing& operator=(const LogRing&) = delete;

  // -- producer --

  template <LogArgument... Args>
  void debug(LogFormat<std::type_identity_t<Args>...> format, const Args&... args) noexcept {
    write(LogLevel::debug, format.text, args...);
  }
  template <LogArgument... Args>
  void info(LogFormat<std::type_identity_t<Args>...> format, const Args&... args) noexcept {
    write(LogLevel::info, format.text, args...);
  }
  template <LogArgument... Args>
  void warn(LogFormat<std::type_identity_t<Args>...> format, const Args&... args) noexcept {
    write(LogLevel::warn, format.text, args...);
  }
  template <LogArgument... Args>
  void error(LogFormat<std::type_identity_t<Args>...> format, const Args&... args) noexcept {
    write(LogLevel::error, format.text, args...);
  }

  /// The time that the following records carry, in ms since 1970; 0 leaves it to the log thread, which looks
  /// every 100 ms.
  void set_wall_ms(int64_t wall_ms) noexcept { wall_ms_ = wall_ms; }

  // -- any thread --

  /// Records below are not even written. No pair: a level publishes nothing but itself.
  void set_level(LogLevel level) noexcept { level_.store(level, std::memory_order_relaxed); }
  [[nodiscard]] LogLevel level() const noexcept { return level_.load(std::memory_order_relaxed); }
  /// Records that found the ring full, since the start. No pair, as above.
  [[nodiscard]] uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] uint32_t source() const noexcept { return source_; }

  // -- consumer --

  /// Calls fn(const LogRecord&) for each record that was there at the call, oldest first; returns how many.
  template <class F>
  uint32_t drain(F&& fn) {
    const uint64_t head = head_.load(std::memory_order_relaxed);
    // Acquire: pairs with the release in publish(), so that the records are whole.
    const uint64_t tail = tail_.load(std::memory_order_acquire);
    for (uint64_t i = head; i != tail; ++i) fn(static_cast<const LogRecord&>(records_[i & mask_]));
    // Release: pairs with the acquire in claim(), so that no record is overwritten while it is read.
    head_.store(tail, std::memory_order_release);
    return static_cast<uint32_t>(tail - head);
  }

 private:
  template <class... Args>
  void write(LogLevel level, const char* format, const Args&... args) noexcept {
    static_assert(sizeof...(Args) <= LogRecord::kArgumentsMax);
    if (level < level_.load(std::memory_order_relaxed)) return;  // no pair, see set_level()
    LogRecord* record = claim();
    if (record == nullptr) return;
    record->format = format;
    record->wall_ms = wall_ms_;
    record->level = level;
    record->count = 0;
    record->text_size = 0;
    record->cut = false;
    (put(*record, args), ...);
    publish();
  }

  template <class T>
  static void put(LogRecord& record, const T& value) noexcept {
    using Kind = LogRecord::Kind;
    if constexpr (std::is_enum_v<T>) {
      put(record, static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::same_as<T, bool>) {
      put_bits(record, Kind::boolean, value ? 1 : 0);
    } else if constexpr (std::same_as<T, char>) {
      put_bits(record, Kind::character, static_cast<uint8_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      put_bits(record, Kind::floating, std::bit_cast<uint64_t>(static_cast<double>(value)));
    } else if constexpr (std::is_arithmetic_v<T>) {
      const Kind kind = std::is_signed_v<T> ? Kind::signed_number : Kind::unsigned_number;
      put_bits(record, kind, static_cast<uint64_t>(value));
    } else {
      put_text(record, std::string_view(value));
    }
  }

  static void put_bits(LogRecord& record, LogRecord::Kind kind, uint64_t bits) noexcept {
    record.kinds[record.count] = kind;
    record.values[record.count++] = bits;
  }
  static void put_text(LogRecord& record, std::string_view text) noexcept;

  [[nodiscard]] LogRecord* claim() noexcept;
  void publish() noexcept;

  // Two lines, because the prefetcher of x86 pulls them in pairs.
  static constexpr size_t kApart = 128;

  // constant after construction
  const uint32_t source_;
  const uint64_t mask_;
  const std::unique_ptr<LogRecord[]> records_;
  std::atomic<LogLevel> level_;
  // producer
  alignas(kApart) std::atomic<uint64_t> tail_{0};
  uint64_t head_seen_ = 0;
  int64_t wall_ms_ = 0;
  std::atomic<uint64_t> dropped_{0};
  // consumer
  alignas(kApart) std::atomic<uint64_t> head_{0};
};

}  // namespace taut
