// The mark inside a message's text that tells its receiver which message it is and when it was meant to be
// sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace taut::load {

/// What a message says about itself.
struct Stamp {
  uint32_t flow = 0;      ///< index of the flow, 16 bits
  uint32_t sequence = 0;  ///< 0, 1, 2 … within the flow
  int64_t intended_ns = 0;

  friend bool operator==(const Stamp&, const Stamp&) = default;
};

/// Plain ASCII that no JSON writer escapes: marker (4), flow (4 hex), sequence (8), intended_ns (16), check
/// (8).
inline constexpr std::string_view kStampMarker = "~Ts~";
inline constexpr size_t kStampBytes = 40;
/// Flow and sequence inside the stamp double as the message's own id: unique within a conversation.
inline constexpr size_t kStampIdAt = 4;
inline constexpr size_t kStampIdBytes = 12;
/// The last bytes of every text, so that a shortened one is seen.
inline constexpr std::string_view kTextEnd = "~Te~";

using StampBytes = std::array<char, kStampBytes>;

[[nodiscard]] StampBytes write_stamp(const Stamp& stamp) noexcept;

/// Nothing when `bytes` does not begin with an undamaged stamp.
[[nodiscard]] std::optional<Stamp> read_stamp(std::string_view bytes) noexcept;

/// A text of `size` bytes that begins with a blank stamp and ends with kTextEnd.
/// REQUIRES: size >= kTextBytesMin.
[[nodiscard]] std::string blank_text(uint32_t size);

/// Finds the stamps of a flow's messages. A server puts the text at nearly the same place each time (numbers
/// grow by a digit now and then), so the last place is tried first and the search is rare.
class StampFinder {
 public:
  /// Where the marker stands in `body`, or npos.
  [[nodiscard]] size_t find(std::string_view body) noexcept;

 private:
  size_t last_at_ = 0;
};

}  // namespace taut::load
