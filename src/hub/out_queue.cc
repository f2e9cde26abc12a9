#include "hub/out_queue.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.h"

namespace taut::hub {

namespace {

constexpr uint32_t kPieceBlockBytes = 224;  // 14 pieces: one burst of a busy conversation
/// No block is longer; it tells the compiler so.
constexpr uint32_t kLengthMask = (uint32_t{1} << 31) - 1;
static_assert(BufferPool::kCapacityMax <= kLengthMask);

}  // namespace

OutQueue::~OutQueue() {
  TAUT_ASSERT(head_ == nullptr && cork_ == nullptr);
}

std::span<char> OutQueue::prepare(BufferPool& pool, uint32_t bytes) {
  if (cork_ != nullptr && cork_->capacity - cork_->written < bytes) close_cork(pool);
  if (cork_ == nullptr) cork_ = pool.allocate(std::max(bytes, kCorkBytes));
  if (cork_ == nullptr) return {};
  return cork_->room();
}

bool OutQueue::commit(BufferPool& pool, uint32_t bytes, bool ends_in_head) {
  TAUT_ASSERT(cork_ != nullptr && bytes <= cork_->capacity - cork_->written);
  Piece* last = last_piece();
  const uint32_t offset = cork_->written;
  if (last != nullptr && last->block == cork_ && last->offset + last->length == offset) {
    last->length = (last->length + bytes) & kLengthMask;
    last->ends_in_head = ends_in_head ? 1 : 0;
  } else {
    if (!append(pool, {cork_, offset, bytes & kLengthMask, ends_in_head ? 1U : 0U})) return false;
    pool.add_ref(cork_);
  }
  cork_->written += bytes;
  pending_bytes_ += bytes;
  return true;
}

bool OutQueue::push(BufferPool& pool, BlockReturn& back, Block* block, uint32_t offset, uint32_t length) {
  if (!append(pool, {block, offset, length & kLengthMask, 0})) {
    back.release(block);
    return false;
  }
  pending_bytes_ += length;
  return true;
}

template <class Visit>
void OutQueue::visit_pieces(const Visit& visit) const {
  uint32_t at = head_at_;
  for (const Block* list = head_; list != nullptr; list = list->next, at = 0) {
    for (; at < list->written; at += sizeof(Piece)) {
      Piece piece{};
      std::memcpy(&piece, list->data() + at, sizeof(Piece));
      if (!visit(piece)) return;
    }
  }
}

uint32_t OutQueue::gather(std::span<iovec> out) const {
  uint32_t count = 0;
  visit_pieces([&](const Piece& piece) {
    if (count == out.size()) return false;
    out[count++] = {piece.block->data() + piece.offset, piece.length};
    return true;
  });
  return count;
}

void OutQueue::consume(BufferPool& pool, BlockReturn& back, uint32_t bytes) {
  TAUT_ASSERT(bytes <= pending_bytes_);
  pending_bytes_ -= bytes;
  while (bytes > 0) {
    Piece piece{};
    std::memcpy(&piece, head_->data() + head_at_, sizeof(Piece));
    if (bytes < piece.length) {
      piece.offset += bytes;
      piece.length = (piece.length - bytes) & kLengthMask;
      std::memcpy(head_->data() + head_at_, &piece, sizeof(Piece));
      begun_ = true;
      return;
    }
    bytes -= piece.length;
    pop_front(pool, back);
  }
  if (pending_bytes_ == 0) close_cork(pool);  // an idle connection owns nothing
}

bool OutQueue::drop_unstarted(BufferPool& pool, BlockReturn& back, uint32_t promised) {
  std::array<iovec, kPiecesPerWrite> pieces;
  const uint32_t count = gather(pieces);
  size_t kept_bytes = 0;
  uint32_t kept = 0;
  bool begun = begun_;
  visit_pieces([&](const Piece& piece) {
    if (kept == count || (!begun && kept_bytes >= promised)) return false;
    kept_bytes += piece.length;
    begun = piece.ends_in_head != 0;
    ++kept;
    return true;
  });
  if (begun || kept_bytes < promised || kept_bytes > BufferPool::kCapacityMax) return false;
  Block* rest = kept == 0 ? nullptr : pool.allocate(kept_bytes);
  if (rest == nullptr && kept > 0) return false;
  for (uint32_t i = 0; i < kept; ++i)
    rest->append({static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len});
  clear(pool, back);
  if (rest == nullptr) return true;
  begun_ = true;
  return push(pool, back, rest, 0, rest->written);
}

void OutQueue::clear(BufferPool& pool, BlockReturn& back) {
  while (head_ != nullptr) pop_front(pool, back);
  close_cork(pool);
  pending_bytes_ = 0;
  begun_ = false;
}

bool OutQueue::append(BufferPool& pool, Piece piece) {
  if (tail_ == nullptr || tail_->capacity - tail_->written < sizeof(Piece)) {
    Block* list = pool.allocate(kPieceBlockBytes);
    if (list == nullptr) return false;
    list->next = nullptr;
    (tail_ == nullptr ? head_ : tail_->next) = list;
    tail_ = list;
  }
  std::memcpy(tail_->data() + tail_->written, &piece, sizeof(Piece));
  tail_->written += sizeof(Piece);
  return true;
}

OutQueue::Piece* OutQueue::last_piece() const {
  if (tail_ == nullptr || (tail_ == head_ && tail_->written == head_at_)) return nullptr;
  return reinterpret_cast<Piece*>(tail_->data() + tail_->written - sizeof(Piece));
}

void OutQueue::pop_front(BufferPool& pool, BlockReturn& back) {
  Piece piece{};
  std::memcpy(&piece, head_->data() + head_at_, sizeof(Piece));
  head_at_ += sizeof(Piece);
  begun_ = piece.ends_in_head != 0;
  back.release(piece.block);
  if (head_at_ < head_->written) return;
  Block* done = head_;
  head_ = head_->next;
  if (head_ == nullptr) tail_ = nullptr;
  head_at_ = 0;
  done->next = nullptr;
  pool.release(done);
}

void OutQueue::close_cork(BufferPool& pool) {
  if (cork_ == nullptr) return;
  pool.release(cork_);
  cork_ = nullptr;
}

}  // namespace taut::hub
