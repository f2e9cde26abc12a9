// Epochs and cursors: what a client that comes back at (epoch, seq) has missed, and what it must be told
// first.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace taut::chat {

/// The last seq that an epoch reached before a crash ended it; for the current epoch the last seq of all. An
/// epoch without items ends where the one before did, so a run of them is one entry: `first` … `epoch`.
struct EpochEnd {
  uint32_t first = 0;
  uint32_t epoch = 0;
  uint64_t last = 0;
};

enum class GapReason : uint8_t { ahead, unknown_epoch, expired };

/// One `gap` frame; its epoch is the cursor's.
struct Gap {
  uint64_t from = 0;
  uint64_t to = 0;
  GapReason reason = GapReason::ahead;
};

/// What to send: the gaps in order, then the items start … last, then `resumed` {epoch, seq: last}.
struct ResumePlan {
  std::array<Gap, 2> gaps{};  ///< a cursor may be ahead (or unknown) and what follows expired as well
  uint32_t gap_count = 0;
  uint64_t start = 1;  ///< start == last + 1: nothing was missed
  uint64_t last = 0;
  uint32_t epoch = 0;  ///< the current one
};

/// `ends`: the known epochs, ascending, without holes, the current one last. `first`: the oldest seq still
/// kept (last + 1 when none is). The cursor (0, 0) is that of a client that has received nothing yet, and
/// always valid. REQUIRES: !ends.empty(). Pure; any thread.
[[nodiscard]] ResumePlan plan_resume(std::span<const EpochEnd> ends, uint64_t first, uint32_t epoch,
                                     uint64_t seq);

}  // namespace taut::chat
