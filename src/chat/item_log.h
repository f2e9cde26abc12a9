// The latest items of a conversation, kept in memory for history and resume.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <utility>

#include "chat/chunked_ring.h"
#include "chat/types.h"

namespace taut::chat {

/// One message or event. Its seq is its place in the log.
struct Item {
  void* body = nullptr;  ///< the caller's immutable, counted block; opaque here
  int64_t ts_ms = 0;
  uint32_t epoch = 0;
  ItemKind kind = ItemKind::text;
  EventKind event = EventKind::opened;  ///< only for ItemKind::event
};

/// Items first_seq() … last_seq() without holes. Holds bodies for its caller: whatever leaves the log is
/// handed back to be released, and release_all() must come before the destructor. One thread.
class ItemLog {
 public:
  static constexpr uint32_t kItemsMax = 8192;

  /// Keeps at most `items_max` items. REQUIRES: 0 < items_max <= kItemsMax; `memory` outlives the log.
  ItemLog(uint32_t items_max, std::pmr::memory_resource& memory) : items_(items_max, memory) {}
  ~ItemLog() { TAUT_ASSERT(items_.size() == 0); }
  ItemLog(const ItemLog&) = delete;
  ItemLog& operator=(const ItemLog&) = delete;

  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] uint32_t size() const { return items_.size() - dropped_; }
  /// 0 while nothing was ever pushed.
  [[nodiscard]] uint64_t last_seq() const { return last_seq_; }
  /// The oldest item still kept; last_seq() + 1 when there is none.
  [[nodiscard]] uint64_t first_seq() const { return last_seq_ + 1 - size(); }

  /// Appends as last_seq() + 1. Answers the body of the item that had to go, or nullptr.
  [[nodiscard]] void* push(const Item& item) {
    void* evicted = nullptr;
    if (items_.full()) {
      evicted = items_[0].body;
      if (dropped_ > 0) --dropped_;
    }
    items_.push(item);
    ++last_seq_;
    if (items_.full()) __builtin_prefetch(items_[0].body, 1);  // the next to go
    return evicted;
  }

  /// The next item is `seq`. REQUIRES: nothing was ever pushed; seq > 0.
  void begin_at(uint64_t seq) {
    TAUT_ASSERT(last_seq_ == 0 && seq > 0);
    last_seq_ = seq - 1;
  }

  /// Forgets the oldest item before its time and answers its body; nullptr when only the latest is left.
  [[nodiscard]] void* drop_oldest() {
    if (size() <= 1) return nullptr;
    return std::exchange(items_[dropped_++].body, nullptr);
  }

  /// REQUIRES: first_seq() <= seq <= last_seq().
  [[nodiscard]] const Item& at(uint64_t seq) const {
    TAUT_ASSERT(seq >= first_seq() && seq <= last_seq_);
    return items_[static_cast<uint32_t>(seq - first_seq()) + dropped_];
  }

  /// Gives every body back and forgets the items; the sequence goes on.
  template <class Release>
  void release_all(Release&& release) {
    for (uint32_t i = dropped_; i < items_.size(); ++i) release(items_[i].body);
    items_.release();
    dropped_ = 0;
  }

 private:
  ChunkedRing<Item, kItemsMax> items_;
  uint32_t dropped_ = 0;  ///< of items_, the oldest: without a body, until their turn comes to be overwritten
  uint64_t last_seq_ = 0;
};

}  // namespace taut::chat
