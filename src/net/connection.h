// One WebSocket connection's bytes: what it sent and is not yet understood, and what it must still be sent.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/buffer_pool.h"
#include "hub/block_return.h"
#include "hub/out_queue.h"
#include "net/byte_stream.h"
#include "wire/websocket.h"

namespace taut::net {

/// The memory that all connections of a shard read into; an idle connection owns none of it.
struct Scratch {
  /// One read's worth: the fairness limit of a connection in one turn.
  static constexpr uint32_t kReadBytes = 32'768;

  explicit Scratch(uint32_t frame_bytes_max);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  char* data = nullptr;
  uint32_t capacity =
      0;  ///< the longest kept tail and one read; wire::kReadablePadding more bytes are readable
};

/// Owner thread only. Knows bytes and frames, not what they mean. Blocks that it holds are of the pool passed
/// to it; close() gives all back and must come before destruction.
class Connection {
 public:
  explicit Connection(ByteStream stream, uint32_t frame_bytes_max)
      : stream_(std::move(stream)), decoder_(wire::WsDecoder::Peer::client, frame_bytes_max) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  [[nodiscard]] int fd() const { return stream_.fd(); }
  [[nodiscard]] ByteStream& stream() { return stream_; }
  [[nodiscard]] hub::OutQueue& out() { return out_; }
  [[nodiscard]] const hub::OutQueue& out() const { return out_; }
  [[nodiscard]] wire::WsDecoder& decoder() { return decoder_; }

  /// Brings what was kept to the front of the scratch and, if `from_socket`, at most one read behind it.
  /// `unread` is then everything not yet understood; valid until the scratch is used again.
  [[nodiscard]] IoResult receive(Scratch& scratch, BufferPool& pool, bool from_socket,
                                 std::span<char>& unread);
  /// The same for what comes before TLS begins: at most `bytes` are read.
  [[nodiscard]] IoResult receive_plain(Scratch& scratch, BufferPool& pool, uint32_t bytes,
                                       std::span<char>& unread);
  /// Keeps the bytes that were not understood for the next receive(), and wipes them there if they are
  /// `secret`. False when the pool is exhausted.
  [[nodiscard]] bool keep(BufferPool& pool, std::span<const char> rest, bool secret = false);
  [[nodiscard]] bool has_kept() const { return kept_ != nullptr; }

  /// Writes as much as the socket takes.
  [[nodiscard]] Io write(BufferPool& pool, hub::BlockReturn& back);
  /// Drops what was not begun to be written. False: the stream is cut inside a frame and can only be closed.
  [[nodiscard]] bool drop_unstarted(BufferPool& pool, hub::BlockReturn& back) {
    return out_.drop_unstarted(pool, back, stream_.promised_bytes());
  }

  /// Gives back all memory and closes the descriptor.
  void close(BufferPool& pool, hub::BlockReturn& back);

  /// Parts with the stream and the kept bytes (copied out), for a move to another shard or service.
  [[nodiscard]] ByteStream take_stream() { return std::move(stream_); }
  [[nodiscard]] std::string_view kept() const {
    return kept_ == nullptr ? std::string_view{} : kept_->bytes();
  }

 private:
  /// Brings what was kept to the front of the scratch; returns how much that is.
  uint32_t bring_kept(Scratch& scratch, BufferPool& pool);

  ByteStream stream_;
  wire::WsDecoder decoder_;
  Block* kept_ = nullptr;
  hub::OutQueue out_;
};

}  // namespace taut::net
