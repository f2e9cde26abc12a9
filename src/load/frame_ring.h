// A flow's outgoing frames, built once before the run and only stamped, never copied, during it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "load/stamp.h"

namespace taut::load {

/// One frame as it goes on the wire, and the places that differ from message to message.
struct FramePrototype {
  std::string bytes;      ///< complete; already masked where the protocol masks
  uint32_t stamp_at = 0;  ///< kStampBytes of the text's beginning
  uint32_t id_at = 0;     ///< kStampIdBytes of the message's own id; 0: the protocol has none
  /// What is XORed over the frame from `masked_from` on; all zero where nothing is.
  std::array<uint8_t, 4> mask{};
  uint32_t masked_from = 0;
};

/// Frames between push() and the kernel, first in, first out, contiguous up to the ring's end, so that
/// whatever is unsent leaves in one or two sends. One thread; no allocation after construction.
class FrameRing {
 public:
  /// REQUIRES: capacity >= 1 and a prototype whose places lie inside its bytes.
  FrameRing(const FramePrototype& prototype, uint32_t capacity);

  [[nodiscard]] bool full() const { return count_ == capacity_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// True while a frame has been sent in part: nothing else may be written to its connection.
  [[nodiscard]] bool mid_frame() const { return head_sent_ != 0; }

  /// Stamps the next frame. REQUIRES: !full().
  void push(const Stamp& stamp) noexcept;
  /// The next bytes to send; empty exactly when empty().
  [[nodiscard]] std::span<const char> unsent() const noexcept;
  /// The kernel took this many bytes of unsent().
  void sent(size_t bytes) noexcept;

 private:
  void overwrite(char* frame, uint32_t at, const char* bytes, size_t size, uint32_t mask) noexcept;

  const uint32_t frame_bytes_;
  const uint32_t capacity_;
  const uint32_t stamp_at_;
  const uint32_t id_at_;
  uint32_t stamp_mask_ = 0;  // the mask, turned to the phase of the place
  uint32_t id_mask_ = 0;
  uint32_t head_ = 0;       // first frame with unsent bytes
  uint32_t count_ = 0;      // frames with unsent bytes
  uint32_t head_sent_ = 0;  // bytes of the head frame that have left
  std::vector<char> frames_;
};

}  // namespace taut::load
