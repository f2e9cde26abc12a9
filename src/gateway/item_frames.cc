#include "gateway/item_frames.h"

#include <cstring>
#include <vector>

#include "gateway/conversations.h"

namespace taut::gateway {

namespace {

/// Room for HistoryBegin and HistoryEnd, whose strings are an id.
constexpr size_t kHistoryFrameBytes = 256;

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
                                             .owner_epoch = record.machine.owner_epoch(),
                                             .ts = static_cast<uint64_t>(item.ts_ms)});
}

Block* item_frame_for(BufferPool& pool, const ConversationRecord& record, uint64_t seq, bool for_visitor) {
  const bool hidden = for_visitor && record.machine.items().at(seq).kind == chat::ItemKind::note;
  if (hidden) return make_hidden_note(pool, record, seq);
  Block* frame = stored_frame(record, seq);
  pool.add_ref(frame);
  return frame;
}

Block* make_history(BufferPool& pool, const ConversationRecord& record, const chat::Page& page, uint32_t ref,
                    bool for_visitor) {
  // Newest first, as many as fit; then written in ascending order.
  std::vector<Block*> frames;
  size_t bytes = kAroundFrameBytes + kHistoryFrameBytes;
  bool more = page.more;
  for (uint64_t seq = page.to; seq >= page.from && seq != 0; --seq) {
    Block* frame = item_frame_for(pool, record, seq, for_visitor);
    if (bytes + frame_json(*frame).size() + 1 > BufferPool::kCapacityMax) {
      pool.release(frame);
      more = true;
      break;
    }
    bytes += frame_json(*frame).size() + 1;
    frames.push_back(frame);
  }
  Block* page_block = pool.allocate(bytes);
  if (page_block != nullptr) {
    char* json = page_block->data() + kFrameJsonAt;
    const wire::HistoryBegin begin{.ref = ref, .conversation = record.machine.id()};
    const wire::Written begun = wire::write({json, wire::max_size(begin)}, begin);
    size_t at = begun.size;
    for (size_t i = frames.size(); i-- > 0;) {
      const std::string_view item = frame_json(*frames[i]);
      std::memcpy(json + at, item.data(), item.size());
      at += item.size();
      if (i > 0) json[at++] = ',';
    }
    const wire::HistoryEnd end{.more = more};
    at += wire::write({json + at, wire::max_size(end)}, end).size;
    finish_frame(*page_block, static_cast<uint32_t>(at), begun, begin.conversation);
  }
  for (Block* frame : frames) pool.release(frame);
  return page_block;
}

}  // namespace taut::gateway
