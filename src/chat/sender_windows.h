// The dedup windows of one conversation, one per sender, a bounded number of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <string_view>

#include "chat/dedup_window.h"
#include "chat/types.h"

namespace taut::chat {

/// The visitor's window is always kept; of the other senders' windows the kOthersMax most recently used are.
/// One thread.
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
  [[nodiscard]] DedupWindow* find(PartyKind kind, std::string_view id);
  /// The sender's window, made if need be; the least recently used one makes room.
  [[nodiscard]] DedupWindow& get(PartyKind kind, std::string_view id);

 private:
  struct Other {
    PartyKind kind;
    InlineId id;
    DedupWindow window;
  };

  [[nodiscard]] Other* find_other(PartyKind kind, std::string_view id);
  void destroy(Other* other);

  std::pmr::memory_resource* memory_;
  DedupWindow visitor_;
  std::array<Other*, kOthersMax> others_{};  ///< most recently used first
  uint32_t count_ = 0;
};

}  // namespace taut::chat
