// What one client knows of one conversation, and whether what it is told next can come next.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace taut::sim {

/// Kept across connections, as a client keeps its cursor. Calls return a complaint; empty: all is well.
class Reader {
 public:
  /// The last item up to which it has seen all; 0, 0: nothing.
  [[nodiscard]] uint64_t seq() const { return seq_; }
  [[nodiscard]] uint64_t epoch() const { return epoch_at(seq_); }
  /// It knows where it stands: from here on nothing may be missing.
  [[nodiscard]] bool anchored() const { return anchored_; }
  /// Missed items are on their way.
  [[nodiscard]] bool resuming() const { return resuming_; }
  /// It stands somewhere, waits for nothing and misses nothing of what was acked.
  [[nodiscard]] bool complete() const { return anchored_ && !resuming_ && early_.empty(); }
  [[nodiscard]] uint64_t epoch_at(uint64_t seq) const { return seq < epochs_.size() ? epochs_[seq] : 0; }

  /// The connection's hello names it with this cursor.
  void ask_to_resume() { resuming_ = anchored_ = true; }
  /// The connection is gone: what was acked beyond the cursor comes again.
  void disconnected();
  /// Nothing more is known, as of what an agent no longer owns.
  void forget() { *this = {}; }

  /// What comes next is behind this item, as `assigned` says.
  void stand_at(uint64_t epoch, uint64_t seq);
  /// An item of the client's own, which its ack (or `opened`) stands for.
  void own(uint64_t epoch, uint64_t seq);
  [[nodiscard]] std::string item(uint64_t epoch, uint64_t seq);
  /// Its items from this one on are no more; the one before was the last of `epoch`.
  [[nodiscard]] std::string gap_back(uint64_t epoch, uint64_t from, uint64_t to);
  [[nodiscard]] std::string gap_expired(uint64_t from, uint64_t to);
  [[nodiscard]] std::string resumed(uint64_t epoch, uint64_t seq);

 private:
  void advance(uint64_t seq, uint64_t epoch);

  uint64_t seq_ = 0;
  std::vector<uint64_t> epochs_;        ///< [seq], 0: not seen
  std::map<uint64_t, uint64_t> early_;  ///< own items beyond seq_: number, epoch
  std::set<uint64_t> own_;              ///< told by acks of this connection
  bool anchored_ = false;
  bool resuming_ = false;
};

}  // namespace taut::sim
