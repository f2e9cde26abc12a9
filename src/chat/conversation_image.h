// A conversation's state as plain values, without its items: what a snapshot of it begins with.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "chat/resume.h"
#include "chat/types.h"

namespace taut::chat {

/// A sender whose messages are told from repeats.
struct RememberedSender {
  PartyKind kind = PartyKind::visitor;
  std::string_view id;     ///< the visitor's is empty
  uint64_t first_seq = 0;  ///< of its messages those from this one on are known; 0: none
};

/// Views are of the conversation, and valid while it does not change. What is under way is not part of it:
/// contests, and a decline that the dispatcher has not answered.
struct ConversationImage {
  ConversationState state = ConversationState::queued;
  GroupId group = 0;
  uint32_t opening = 0;
  uint32_t rated_opening = 0;
  uint32_t owner_epoch = 0;
  std::string_view owner;                          ///< an agent's id; empty: nobody
  uint32_t owned_since = 0;                        ///< the owner_epoch by which it got it
  std::array<std::array<uint64_t, 2>, 2> marks{};  ///< by Side and ReceiptLevel
  std::vector<EpochEnd> ends;  ///< the current epoch last; its `last` is the last seq of all
  uint64_t first_seq = 1;      ///< of the items that are kept
  std::vector<RememberedSender>
      senders;  ///< the visitor, then the others, who has not sent for longest first
};

}  // namespace taut::chat
