// What a connection still has to write: references to shared blocks, and small frames written in place.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <span>

#include "core/buffer_pool.h"
#include "hub/block_return.h"

namespace taut::hub {

/// A FIFO of byte pieces. Owner thread only; 40 bytes while empty and nothing from the pool. Owns one
/// reference to every block it names and gives it back through the BlockReturn when its bytes are written or
/// dropped. Invariant: pending_bytes() is the sum of the lengths of the pieces.
class OutQueue {
 public:
  /// Frames below this are copied together into one block (one iovec for many acks); longer ones go by
  /// reference.
  static constexpr uint32_t kCopyBelow = 512;
  static constexpr uint32_t kCorkBytes = 2016;
  /// Pieces that go into one write; more wait for the next call.
  static constexpr uint32_t kPiecesPerWrite = 64;

  OutQueue() = default;
  OutQueue(const OutQueue&) = delete;
  OutQueue& operator=(const OutQueue&) = delete;
  ~OutQueue();

  /// Room for at least `bytes` contiguous bytes to encode into; empty when the pool is exhausted. A commit
  /// must follow.
  [[nodiscard]] std::span<char> prepare(BufferPool& pool, uint32_t bytes);
  /// The first `bytes` of the prepared room become part of the queue. False when the pool is exhausted.
  [[nodiscard]] bool commit(BufferPool& pool, uint32_t bytes) { return commit(pool, bytes, false); }
  /// The same for the beginning of a frame: its rest must be pushed next.
  [[nodiscard]] bool commit_head(BufferPool& pool, uint32_t bytes) { return commit(pool, bytes, true); }

  /// Appends part of a block whose one reference the queue takes over. False when the pool is exhausted (the
  /// reference is still taken, and given back).
  [[nodiscard]] bool push(BufferPool& pool, BlockReturn& back, Block* block, uint32_t offset,
                          uint32_t length);

  /// Fills `out` with the oldest pieces and returns how many.
  [[nodiscard]] uint32_t gather(std::span<iovec> out) const;
  /// The first `bytes` gathered bytes are written.
  void consume(BufferPool& pool, BlockReturn& back, uint32_t bytes);

  /// Drops everything that was not begun to be written: what remains completes the pieces that hold the first
  /// `promised` bytes, the first piece if some of it is written, and a frame whose head is in them. False
  /// when the pool has no room for that rest: the stream is then cut inside a frame and can only be closed.
  [[nodiscard]] bool drop_unstarted(BufferPool& pool, BlockReturn& back, uint32_t promised = 0);
  /// Drops everything. REQUIRED before destruction unless empty.
  void clear(BufferPool& pool, BlockReturn& back);

  [[nodiscard]] uint32_t pending_bytes() const { return pending_bytes_; }
  [[nodiscard]] bool empty() const { return pending_bytes_ == 0; }

 private:
  struct Piece {
    Block* block;
    uint32_t offset;
    uint32_t length : 31;
    uint32_t ends_in_head : 1;  ///< the next piece completes the frame that ends this one
  };

  [[nodiscard]] bool commit(BufferPool& pool, uint32_t bytes, bool ends_in_head);
  /// From the oldest on, until `visit` says false.
  template <class Visit>
  void visit_pieces(const Visit& visit) const;
  [[nodiscard]] bool append(BufferPool& pool, Piece piece);
  [[nodiscard]] Piece* last_piece() const;
  void pop_front(BufferPool& pool, BlockReturn& back);
  void close_cork(BufferPool& pool);

  Block* head_ = nullptr;  ///< blocks full of Pieces, linked by Block::next
  Block* tail_ = nullptr;
  Block* cork_ = nullptr;  ///< the block that prepare() hands out; holds one reference of its own
  uint32_t head_at_ = 0;   ///< bytes of consumed Pieces in head_
  uint32_t pending_bytes_ = 0;
  bool begun_ = false;  ///< part of the first piece, or of a frame that it completes, is written
};

}  // namespace taut::hub
