// The frame that a reader of a conversation gets for one of its items.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "chat/conversation.h"
#include "core/buffer_pool.h"
#include "gateway/frame.h"

namespace taut::gateway {

struct ConversationRecord;

/// What stands in a note's place for its visitor, so that the numbers stay whole; the same however late it is
/// told, also in a full pool.
[[nodiscard]] Block* make_hidden_note(BufferPool& pool, const ConversationRecord& record, uint64_t seq);

/// The item `seq` with one reference for the caller: the stored frame, or the hidden note for a visitor, also
/// in a full pool. REQUIRES: first_seq ≤ seq ≤ last_seq of the record's items.
[[nodiscard]] Block* item_frame_for(BufferPool& pool, const ConversationRecord& record, uint64_t seq,
                                    bool for_visitor);

/// Writes a whole `history` frame into an empty block with the objects of `items`, ascending; as many of the
/// latest as fit, and `more` says whether older ones are left. REQUIRES: the block has room for
/// kHistoryAroundBytes.
void write_history(Block& block, uint32_t ref, std::string_view conversation,
                   std::span<const std::string_view> items, bool more);
/// What a `history` frame takes at most beside its items and the commas behind them.
inline constexpr uint32_t kHistoryAroundBytes = kAroundFrameBytes + 256;

/// A whole `history` frame with the items from … to; as many of the latest as fit into a block, and `more`
/// says whether older ones are left. nullptr when the pool is exhausted.
[[nodiscard]] Block* make_history(BufferPool& pool, const ConversationRecord& record, const chat::Page& page,
                                  uint32_t ref, bool for_visitor);

}  // namespace taut::gateway
