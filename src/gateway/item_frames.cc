#include "gateway/item_frames.h"

#include <algorithm>
#include <vector>

#include "gateway/conversations.h"

namespace taut::gateway {

namespace {

Block* stored_frame(const ConversationRecord& record, uint64_t seq) {
  return static_cast<Block*>(record.machine.items().at(seq).body);
}

}  // namespace

Block* make_hidden_note(BufferPool& pool, const ConversationRecord& record, uint64_t seq) {
  const chat::Item& item = record.machine.items().at(seq);
  return make_frame_anyway(pool, wire::Event{.conversation = record.machine.id(),
                                             .epoch = item.epoch,
                                             .seq = seq,
                                             .event = wire::EventKind::note_hidden,
                                             .agent = {},
                                             .group = {},
                                             .reason = {},
                                             .ts = static_cast<uint64_t>(item.ts_ms)});
}

Block* item_frame_for(BufferPool& pool, const ConversationRecord& record, uint64_t seq, bool for_visitor) {
  const bool hidden = for_visitor && record.machine.items().at(seq).kind == chat::ItemKind::note;
  if (hidden) return make_hidden_note(pool, record, seq);
  Block* frame = stored_frame(record, seq);
  pool.add_ref(frame);
  return frame;
}

void write_history(Block& block, uint32_t ref, std::string_view conversation,
                   std::span<const std::string_view> items, bool more) {
  size_t first = items.size();
  for (size_t bytes = kHistoryAroundBytes; first > 0; --first) {
    bytes += items[first - 1].size() + 1;
    if (bytes > block.capacity) break;
  }
  char* json = block.data() + kFrameJsonAt;
  const wire::HistoryBegin begin{.ref = ref, .conversation = conversation};
  const wire::Written begun = wire::write({json, wire::max_size(begin)}, begin);
  size_t at = begun.size;
  for (size_t i = first; i < items.size(); ++i) {
    if (i > first) json[at++] = ',';
    at += items[i].copy(json + at, items[i].size());
  }
  const wire::HistoryEnd end{.more = more || first > 0};
  at += wire::write({json + at, wire::max_size(end)}, end).size;
  finish_frame(block, static_cast<uint32_t>(at), begun, conversation);
}

Block* make_history(BufferPool& pool, const ConversationRecord& record, const chat::Page& page, uint32_t ref,
                    bool for_visitor) {
  std::vector<Block*> frames;
  std::vector<std::string_view> items;
  size_t bytes = kHistoryAroundBytes;
  for (uint64_t seq = page.from; seq <= page.to; ++seq) {
    frames.push_back(item_frame_for(pool, record, seq, for_visitor));
    items.push_back(frame_json(*frames.back()));
    bytes += items.back().size() + 1;
  }
  Block* page_block = pool.allocate(std::min(bytes, BufferPool::kCapacityMax));
  if (page_block != nullptr) write_history(*page_block, ref, record.machine.id(), items, page.more);
  for (Block* frame : frames) pool.release(frame);
  return page_block;
}

}  // namespace taut::gateway
