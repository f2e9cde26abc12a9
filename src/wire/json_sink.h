// What the writers of JSON describe their objects to: one sink counts, the other writes, so the bound and the
// text cannot drift apart.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/assert.h"
#include "wire/json_escape.h"

namespace taut::wire::json {

/// Digits of the largest 64-bit number.
inline constexpr size_t kNumberBytesMax = 20;

/// Adds up what a Writer would need.
class Counter {
 public:
  void literal(std::string_view text) { size_ += text.size(); }
  void plain(std::string_view text) { size_ += text.size() + 2; }
  void escaped(std::string_view text) { size_ += json_escaped_size(text) + 2; }
  void number(uint64_t) { size_ += kNumberBytesMax; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  size_t size_ = 0;
};

/// Writes into a span and ends the process rather than leave it.
class Writer {
 public:
  explicit Writer(std::span<char> out) : begin_(out.data()), at_(begin_), end_(begin_ + out.size()) {}

  void literal(std::string_view text) {
    TAUT_ASSERT(room() >= text.size());
    at_ = std::ranges::copy(text, at_).out;  // unlike memcpy it takes an empty view's null
  }
  void plain(std::string_view text) {
    TAUT_ASSERT(room() >= text.size() + 2);
    *at_++ = '"';
    at_ = std::ranges::copy(text, at_).out;
    *at_++ = '"';
  }
  void escaped(std::string_view text) {
    literal("\"");
    at_ = write_json_escaped({at_, end_}, text);
    literal("\"");
  }
  void number(uint64_t value) {
    const auto [end, error] = std::to_chars(at_, end_, value);
    TAUT_ASSERT(error == std::errc{});
    at_ = end;
  }
  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(at_ - begin_); }

 private:
  [[nodiscard]] size_t room() const { return static_cast<size_t>(end_ - at_); }

  char* begin_;
  char* at_;
  char* end_;
};

// The vocabulary of the descriptions. `field` is the text before the value: a comma, the quoted name, a
// colon.

template <class Sink>
void number(Sink& sink, std::string_view field, uint64_t value) {
  sink.literal(field);
  sink.number(value);
}

/// A value that needs no escapes: an id or a word of the protocol.
template <class Sink>
void plain(Sink& sink, std::string_view field, std::string_view value) {
  sink.literal(field);
  sink.plain(value);
}

template <class Sink>
void escaped(Sink& sink, std::string_view field, std::string_view value) {
  sink.literal(field);
  sink.escaped(value);
}

template <class Sink>
void optional_plain(Sink& sink, std::string_view field, std::string_view value) {
  if (!value.empty()) plain(sink, field, value);
}

template <class Sink>
void optional_escaped(Sink& sink, std::string_view field, std::string_view value) {
  if (!value.empty()) escaped(sink, field, value);
}

/// A value that is JSON already.
template <class Sink>
void optional_raw(Sink& sink, std::string_view field, std::string_view value) {
  if (value.empty()) return;
  sink.literal(field);
  sink.literal(value);
}

template <class Sink>
void boolean(Sink& sink, std::string_view field, bool value) {
  sink.literal(field);
  sink.literal(value ? "true" : "false");
}

}  // namespace taut::wire::json

/// Defines max_size() and write() of an object that put(sink, m) describes. In namespace taut::wire.
#define TAUT_JSON_WRITES(M)                                  \
  size_t max_size(const M& m) noexcept {                     \
    json::Counter counter;                                   \
    put(counter, m);                                         \
    return counter.size();                                   \
  }                                                          \
  uint32_t write(std::span<char> out, const M& m) noexcept { \
    json::Writer writer(out);                                \
    put(writer, m);                                          \
    return writer.size();                                    \
  }
