// The dedup windows of one conversation, one per sender, a bounded number of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <utility>

#include "chat/dedup_window.h"
#include "chat/types.h"

namespace taut::chat {

/// The visitor's window is always kept; of the other senders' windows those of the kOthersMax who sent last
/// are. So they follow from the messages alone, whatever was asked in between. One thread.
class SenderWindows {
 public:
  /// Agents, bots and system identities that one conversation remembers at the same time.
  static constexpr uint32_t kOthersMax = 15;

  /// `memory` outlives the windows and does not fail.
  explicit SenderWindows(std::pmr::memory_resource& memory) : memory_(&memory), visitor_(memory) {}
  SenderWindows(const SenderWindows&) = delete;
  SenderWindows& operator=(const SenderWindows&) = delete;
  ~SenderWindows();

  /// The sender's window, or nullptr when it has sent nothing that is remembered.
  [[nodiscard]] const DedupWindow* find(PartyKind kind, std::string_view id) const;
  [[nodiscard]] DedupWindow* find(PartyKind kind, std::string_view id) {
    return const_cast<DedupWindow*>(std::as_const(*this).find(kind, id));
  }
  /// The window of who sends now, made if need be; that of whoever has not sent for longest makes room.
  [[nodiscard]] DedupWindow& get(PartyKind kind, std::string_view id);
  /// Remembers what `other` does. REQUIRES: nothing is remembered here.
  void copy(const SenderWindows& other);
  /// As new.
  void forget();
  /// Calls visit(kind, id, window) for the visitor (whose id is empty here), then for the others: who has not
  /// sent for longest first. get() in this order, and each window is where it is now.
  template <class Visit>
  void for_each(Visit&& visit) const {
    visit(PartyKind::visitor, std::string_view(), visitor_);
    for (uint32_t i = count_; i > 0; --i) {
      const Other& other = *others_[i - 1];
      visit(other.kind, other.id.view(), other.window);
    }
  }

 private:
  struct Other {
    PartyKind kind;
    InlineId id;
    DedupWindow window;
  };

  /// The place in others_; count_ when there is none.
  [[nodiscard]] uint32_t place_of(PartyKind kind, std::string_view id) const;
  void destroy(Other* other);

  std::pmr::memory_resource* memory_;
  DedupWindow visitor_;
  std::array<Other*, kOthersMax> others_{};  ///< who sent last first
  uint32_t count_ = 0;
};

}  // namespace taut::chat
