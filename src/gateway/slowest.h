// The slowest messages of the last minutes in which there were any, kept where the HTTP service can read
// them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "chat/types.h"
#include "core/snapshot_cell.h"
#include "gateway/trace.h"

namespace taut::gateway {

/// One shard's. add() is the shard's, minutes() everybody's. A minute without messages takes no place.
class SlowestBoard {
 public:
  static constexpr size_t kMinutes = 5;
  static constexpr size_t kPerMinute = 8;

  struct Entry {
    Trace trace;
    chat::InlineId conversation;

    [[nodiscard]] std::string_view id() const { return conversation.view(); }
  };
  /// The slowest first.
  struct Minute {
    int64_t begin_ns = 0;  ///< monotonic
    uint32_t count = 0;
    std::array<Entry, kPerMinute> entries;
  };

  /// True when a message that took so long and was written now would be kept.
  [[nodiscard]] bool wants(int64_t total_ns, int64_t now_ns) const {
    return now_ns >= current_.begin_ns + kMinuteNs || current_.count < kPerMinute ||
           total_ns > current_.entries[kPerMinute - 1].trace.total_ns();
  }
  /// REQUIRES: wants().
  void add(const Trace& trace, std::string_view conversation, int64_t now_ns);

  [[nodiscard]] std::array<Minute, kMinutes> minutes() const;

 private:
  static constexpr int64_t kMinuteNs = 60'000'000'000;

  Minute current_;
  size_t slot_ = 0;
  std::array<SnapshotCell<Minute>, kMinutes> published_;
};

/// The boards of all shards as one JSON object, newest minute first, slowest message first.
/// `wall_ms` and `mono_ns` are the same moment.
[[nodiscard]] std::string slowest_page(std::span<const SlowestBoard* const> boards, int64_t wall_ms,
                                       int64_t mono_ns);

}  // namespace taut::gateway
