// What one sender has sent lately: tells a new message from a repeat and from a misused id.
#pragma once

#include <cstdint>
#include <memory_resource>

#include "chat/chunked_ring.h"

namespace taut::chat {

/// 128-bit keyed hash of a client_msg_id. The key is the process's own, so that no client can aim collisions.
struct IdHash {
  uint64_t high = 0;
  uint64_t low = 0;
  friend bool operator==(const IdHash&, const IdHash&) = default;
};

/// The last kIds ids of one sender in one conversation, oldest forgotten first. One thread.
///
/// Costs nothing until the first add(), about 1.1 KiB for up to 16 ids, 4 × more at each step, 224 KiB when
/// full; from then on nothing is allocated. A lookup of a new id touches one line of the index; a repeat one
/// entry more.
class DedupWindow {
 public:
  static constexpr uint32_t kIds = 4096;

  enum class Verdict : uint8_t { fresh, same, conflict };

  /// For `same`: what the first sending was answered. Else zeros.
  struct Found {
    Verdict verdict = Verdict::fresh;
    uint32_t epoch = 0;
    uint64_t seq = 0;
    int64_t ts_ms = 0;
  };

  /// `memory` outlives the window and does not fail.
  explicit DedupWindow(std::pmr::memory_resource& memory);
  DedupWindow(const DedupWindow&) = delete;
  DedupWindow& operator=(const DedupWindow&) = delete;
  ~DedupWindow();

  /// `body_hash` covers all that must be equal in a repeat: text and kind.
  [[nodiscard]] Found find(IdHash id, uint64_t body_hash) const;

  /// Asks for the memory that find(id) and add(id) will look at; worth it some tens of nanoseconds ahead.
  void prefetch(IdHash id) const;

  /// Remembers an id that find() called fresh. REQUIRES: it still is.
  void add(IdHash id, uint64_t body_hash, uint32_t epoch, uint64_t seq, int64_t ts_ms);

  /// Remembers what `other` does. REQUIRES: nothing is remembered here.
  void copy(const DedupWindow& other);
  /// As new: nothing is remembered, and no memory held.
  void forget();

  /// What is remembered of one message.
  struct Entry {
    IdHash id;
    uint64_t body_hash;
    uint64_t seq;
    int64_t ts_ms;
    uint32_t epoch;
  };

  [[nodiscard]] uint32_t size() const { return entries_.size(); }
  /// The i-th oldest. REQUIRES: i < size().
  [[nodiscard]] const Entry& entry(uint32_t i) const { return entries_[i]; }

 private:
  static_assert(sizeof(Entry) == 48);
  using Entries = ChunkedRing<Entry, kIds>;

  /// Slot + 1 in the low 13 bits (0: empty), above them 19 bits of the hash; their low bits are the cell's
  /// home.
  using Cell = uint32_t;

  [[nodiscard]] uint32_t home_of(Cell cell) const;
  void index_grow(uint32_t cells);
  void index_insert(Cell cell);
  void index_erase(Cell cell);

  Entries entries_;
  std::pmr::memory_resource* memory_;
  Cell* cells_ = nullptr;
  uint32_t cell_count_ = 0;  ///< a power of two, at least twice the entries
};

}  // namespace taut::chat
