// What may be asked of the history, and the answers: the archive's part of `history` and of the HTTP API.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/buffer_pool.h"
#include "gateway/inquiry.h"
#include "gateway/mails.h"
#include "store/history.h"

namespace taut::gateway {

/// A question of the HTTP service. It goes to the archive on the heap and comes back with its answer.
struct ArchiveQuestion {
  enum class Kind : uint8_t { conversations, conversation, items, visitor, forgotten };
  Kind kind = Kind::conversations;
  std::string id = {};  ///< of a conversation, or of a visitor
  // conversations: as store::ConversationFilter
  std::optional<store::ConversationState> state = {};
  std::string agent = {};
  std::string visitor = {};
  std::string text = {};
  uint64_t cursor = 0;
  uint32_t limit = 0;
  store::ItemRange range = {};  ///< items
  HttpAnswer answer = {};
  std::optional<store::Removal> removed = {};  ///< forgotten: what was removed; none: not yet
};

/// Longest export of one visitor that is answered, in bytes.
inline constexpr size_t kExportBytesMax = size_t{64} << 20;

/// May block. Error: the store's own.
[[nodiscard]] Result<HttpAnswer> answer_of(store::HistoryStore& store, const ArchiveQuestion& question);

/// A page for whoever the question at the block's front says, which then becomes the frame if the outcome is
/// `found`. It ends right before the item before which it was asked for, or is not found: no hole.
/// `caught_up`: the store has all that is durable. May block. Error: the store's own.
[[nodiscard]] Result<OlderPageOutcome> answer_older_page(store::HistoryStore& store,
                                                         const std::vector<std::string>& groups,
                                                         bool caught_up, Block& block);

}  // namespace taut::gateway
