// Compression of WebSocket messages (RFC 7692), each on its own, so that no state belongs to a connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "wire/chat_codes.h"

struct z_stream_s;

namespace taut::wire {

/// Shorter messages go out as they are: they fit into one packet either way.
inline constexpr size_t kDeflateBytesMin = 1'024;

/// What an inflated message is, or with which code and words its connection is to be closed.
struct Inflated {
  CloseCode close_code = CloseCode::none;
  std::string_view reason = {};  ///< static
  std::span<char> message = {};  ///< kReadablePadding readable bytes behind it; valid until the next call
};

/// One thread; allocates when it is made and never again. Keeps nothing of a message beside the bytes that it
/// hands out.
class Inflater {
 public:
  /// The longest message that it makes, whatever its input promises.
  explicit Inflater(uint32_t message_bytes_max);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// The payload of a whole message. 1009: longer than message_bytes_max; 1007: not what a compressor writes.
  /// REQUIRES: payload ≤ message_bytes_max.
  [[nodiscard]] Inflated inflate(std::span<const char> payload) noexcept;

 private:
  std::unique_ptr<z_stream_s> stream_;
  std::vector<char> payload_;
  std::vector<char> message_;
  size_t message_bytes_max_;
};

/// One thread; allocates when it is made and never again.
class Deflater {
 public:
  /// `payload_bytes_max`: what becomes longer is left as it is.
  explicit Deflater(uint32_t payload_bytes_max);
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// The payload that says the same in fewer bytes, valid until the next call; empty where there is none, and
  /// for messages below kDeflateBytesMin. For the `number` of the last call the same once more, without work;
  /// 0 numbers nothing.
  [[nodiscard]] std::string_view deflate(std::string_view message, uint64_t number = 0) noexcept;

  /// Bytes that it was given and what became of them, since it was made.
  [[nodiscard]] uint64_t bytes_in() const { return bytes_in_; }
  [[nodiscard]] uint64_t bytes_out() const { return bytes_out_; }

 private:
  [[nodiscard]] std::string_view compress(std::string_view message) noexcept;

  std::unique_ptr<z_stream_s> stream_;
  std::vector<char> payload_;
  std::string_view last_;     ///< in payload_
  uint64_t last_number_ = 0;  ///< of last_
  uint64_t bytes_in_ = 0;
  uint64_t bytes_out_ = 0;
};

}  // namespace taut::wire
