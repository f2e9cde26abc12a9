// An encoded server message in a pool block: whole on the wire of any carrier, the same bytes for every
// receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "core/buffer_pool.h"
#include "gateway/trace.h"
#include "hub/out_queue.h"
#include "wire/chat_writer.h"
#include "wire/websocket.h"

namespace taut::gateway {

/// At the front of a frame block; offsets from Block::data(). The WebSocket header stands right before the
/// JSON object.
struct FrameHeader {
  uint32_t frame_offset = 0;  ///< the WebSocket frame: header and object
  uint32_t frame_bytes = 0;
  uint32_t json_offset = 0;
  uint32_t json_bytes = 0;
  uint32_t rest_offset = 0;  ///< in the object: the first field behind type and conversation
  /// Length of the conversation's id, which ends 2 bytes before rest_offset.
  uint32_t conversation_bytes = 0;
  Trace trace;  ///< of a message on its way to live receivers; of others started_ns is 0
};

[[nodiscard]] inline FrameHeader frame_header(const Block& frame) {
  FrameHeader header;
  std::memcpy(&header, frame.data(), sizeof(header));
  return header;
}

/// The JSON object, as history pages quote it.
[[nodiscard]] inline std::string_view frame_json(const Block& frame) {
  const FrameHeader h = frame_header(frame);
  return {frame.data() + h.json_offset, h.json_bytes};
}

/// REQUIRES: nobody else reads the frame yet.
inline void set_trace(Block& frame, const Trace& trace) {
  std::memcpy(frame.data() + offsetof(FrameHeader, trace), &trace, sizeof(trace));
}

[[nodiscard]] inline std::string_view frame_bytes(const Block& frame) {
  const FrameHeader h = frame_header(frame);
  return {frame.data() + h.frame_offset, h.frame_bytes};
}

/// The conversation's id; empty in messages that name none.
[[nodiscard]] inline std::string_view frame_conversation(const Block& frame) {
  const FrameHeader h = frame_header(frame);
  if (h.conversation_bytes == 0) return {};
  return {frame.data() + h.json_offset + h.rest_offset - 2 - h.conversation_bytes, h.conversation_bytes};
}

template <class M>
[[nodiscard]] uint32_t conversation_bytes_of(const M& message) {
  if constexpr (requires { message.conversation; }) {
    return static_cast<uint32_t>(message.conversation.size());
  } else {
    return 0;
  }
}

/// Where the object begins in a frame block.
inline constexpr uint32_t kFrameJsonAt = sizeof(FrameHeader) + static_cast<uint32_t>(wire::kWsHeaderMax);

/// Completes a block whose object of json_bytes stands at kFrameJsonAt: headers in front, written bytes.
inline void finish_frame(Block& block, uint32_t json_bytes, uint32_t rest_offset,
                         uint32_t conversation_bytes) {
  const auto ws_header = static_cast<uint32_t>(wire::ws_header_size(json_bytes));
  const FrameHeader header{.frame_offset = kFrameJsonAt - ws_header,
                           .frame_bytes = ws_header + json_bytes,
                           .json_offset = kFrameJsonAt,
                           .json_bytes = json_bytes,
                           .rest_offset = rest_offset,
                           .conversation_bytes = conversation_bytes,
                           .trace = {}};
  wire::write_ws_header({block.data() + header.frame_offset, ws_header}, wire::WsOpcode::text, json_bytes);
  std::memcpy(block.data(), &header, sizeof(header));
  block.written = kFrameJsonAt + json_bytes;
}

/// Encodes into an empty block that has room for max_size(message) bytes at kFrameJsonAt.
template <class M>
void encode_frame(Block& block, const M& message) {
  const wire::Written json = wire::write({block.data() + kFrameJsonAt, wire::max_size(message)}, message);
  finish_frame(block, json.size, json.rest_offset, conversation_bytes_of(message));
}

/// Encodes into a fresh block with one reference; nullptr when the pool is exhausted or the message is larger
/// than its largest block.
template <class M>
[[nodiscard]] Block* make_frame(BufferPool& pool, const M& message) {
  Block* block = pool.allocate(kFrameJsonAt + wire::max_size(message));
  if (block != nullptr) encode_frame(*block, message);
  return block;
}

/// The same for what must be said even when the pool is exhausted; never nullptr. REQUIRES: the message fits
/// into the pool's largest block.
template <class M>
[[nodiscard]] Block* make_frame_anyway(BufferPool& pool, const M& message) {
  Block* block = pool.allocate_anyway(kFrameJsonAt + wire::max_size(message));
  encode_frame(*block, message);
  return block;
}

/// Encodes straight into a connection's output. False when the pool is exhausted.
template <class M>
[[nodiscard]] bool write_frame(BufferPool& pool, hub::OutQueue& out, const M& message) {
  const size_t bound = wire::max_size(message);
  const auto guess = static_cast<uint32_t>(wire::ws_header_size(bound));
  const std::span<char> room = out.prepare(pool, guess + static_cast<uint32_t>(bound));
  if (room.empty()) return false;
  const wire::Written json = wire::write(room.subspan(guess), message);
  const auto ws_header = static_cast<uint32_t>(wire::ws_header_size(json.size));
  if (ws_header != guess) std::memmove(room.data() + ws_header, room.data() + guess, json.size);
  wire::write_ws_header(room.first(ws_header), wire::WsOpcode::text, json.size);
  return out.commit(pool, ws_header + json.size);
}

}  // namespace taut::gateway
