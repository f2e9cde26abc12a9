// An encoded server message in a pool block, the same bytes for every receiver: whole as a WebSocket frame,
// and all but its head as one of the compact carrier.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/assert.h"
#include "core/buffer_pool.h"
#include "gateway/carrier.h"
#include "gateway/trace.h"
#include "hub/out_queue.h"
#include "wire/chat_writer.h"
#include "wire/compact.h"
#include "wire/deflate.h"
#include "wire/websocket.h"

namespace taut::gateway {

/// At the front of a frame block; offsets from Block::data(). The WebSocket header stands right before the
/// JSON object, the comma that ends a netstring right behind it.
struct FrameHeader {
  uint32_t frame_offset = 0;  ///< the WebSocket frame: header and object
  uint32_t frame_bytes = 0;
  uint32_t json_offset = 0;
  uint32_t json_bytes = 0;
  uint32_t rest_offset = 0;  ///< in the object: the first field behind type and conversation
  /// Length of the conversation's id, which ends 2 bytes before rest_offset.
  uint16_t conversation_bytes = 0;
  wire::ServerType type{};
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

/// The conversation's id; empty in messages that name none.
[[nodiscard]] inline std::string_view frame_conversation(const Block& frame) {
  const FrameHeader h = frame_header(frame);
  if (h.conversation_bytes == 0) return {};
  return {frame.data() + h.json_offset + h.rest_offset - 2 - h.conversation_bytes, h.conversation_bytes};
}

/// A frame as one carrier writes it: a head of its own, then part of the block.
struct FrameParts {
  std::array<char, wire::kCompactHeadMax> head;  ///< its first head_bytes
  uint32_t head_bytes = 0;
  uint32_t offset = 0;
  uint32_t bytes = 0;

  [[nodiscard]] uint32_t size() const { return head_bytes + bytes; }
};

[[nodiscard]] inline FrameParts frame_parts(const Block& frame, Carrier carrier) {
  const FrameHeader h = frame_header(frame);
  FrameParts parts;
  if (carrier == Carrier::websocket) {
    parts.offset = h.frame_offset;
    parts.bytes = h.frame_bytes;
    return parts;
  }
  const uint32_t rest_bytes = h.json_bytes - h.rest_offset;
  parts.offset = h.json_offset + h.rest_offset;
  parts.bytes = rest_bytes + 1;  // with the comma
  parts.head_bytes = static_cast<uint32_t>(
      wire::write_compact_head(parts.head, h.type, frame_conversation(frame), rest_bytes));
  return parts;
}

template <class M>
[[nodiscard]] std::string_view conversation_of(const M& message) {
  if constexpr (requires { message.conversation; }) {
    return message.conversation;
  } else {
    return {};
  }
}

/// Where the object begins in a frame block.
inline constexpr uint32_t kFrameJsonAt = sizeof(FrameHeader) + static_cast<uint32_t>(wire::kWsHeaderMax);
/// What a frame block takes beside the object.
inline constexpr uint32_t kAroundFrameBytes = kFrameJsonAt + 1;

/// Completes a block whose object of json_bytes stands at kFrameJsonAt, `begun` as wire::write() said of its
/// beginning: headers in front, the comma behind, written bytes.
inline void finish_frame(Block& block, uint32_t json_bytes, const wire::Written& begun,
                         std::string_view conversation) {
  const auto ws_header = static_cast<uint32_t>(wire::ws_header_size(json_bytes));
  const FrameHeader header{.frame_offset = kFrameJsonAt - ws_header,
                           .frame_bytes = ws_header + json_bytes,
                           .json_offset = kFrameJsonAt,
                           .json_bytes = json_bytes,
                           .rest_offset = begun.rest_offset,
                           .conversation_bytes = static_cast<uint16_t>(conversation.size()),
                           .type = begun.type,
                           .trace = {}};
  wire::write_ws_header({block.data() + header.frame_offset, ws_header}, wire::WsOpcode::text, json_bytes);
  std::memcpy(block.data(), &header, sizeof(header));
  block.data()[kFrameJsonAt + json_bytes] = ',';
  block.written = kAroundFrameBytes + json_bytes;
}

/// Encodes into an empty block that has room for kAroundFrameBytes and max_size(message).
template <class M>
void encode_frame(Block& block, const M& message) {
  const wire::Written json = wire::write({block.data() + kFrameJsonAt, wire::max_size(message)}, message);
  finish_frame(block, json.size, json, conversation_of(message));
}

/// Encodes into a fresh block with one reference; nullptr when the pool is exhausted or the message is larger
/// than its largest block.
template <class M>
[[nodiscard]] Block* make_frame(BufferPool& pool, const M& message) {
  Block* block = pool.allocate(kAroundFrameBytes + wire::max_size(message));
  if (block != nullptr) encode_frame(*block, message);
  return block;
}

/// The same for what must be said even when the pool is exhausted; never nullptr. REQUIRES: the message fits
/// into the pool's largest block.
template <class M>
[[nodiscard]] Block* make_frame_anyway(BufferPool& pool, const M& message) {
  Block* block = pool.allocate_anyway(kAroundFrameBytes + wire::max_size(message));
  encode_frame(*block, message);
  return block;
}

/// The frame of an object that wire::write() made earlier, also when the pool is exhausted. REQUIRES: it
/// begins as one of that type and conversation (wire::rest_offset_of()), and fits into the pool's largest
/// block.
[[nodiscard]] inline Block* make_frame_of_json(BufferPool& pool, std::string_view json, wire::ServerType type,
                                               std::string_view conversation) {
  const auto json_bytes = static_cast<uint32_t>(json.size());
  const uint32_t rest_offset = wire::rest_offset_of(json, type, conversation);
  TAUT_ASSERT(rest_offset > 0);
  Block* block = pool.allocate_anyway(kAroundFrameBytes + json_bytes);
  std::memcpy(block->data() + kFrameJsonAt, json.data(), json_bytes);
  finish_frame(*block, json_bytes, {.size = json_bytes, .rest_offset = rest_offset, .type = type},
               conversation);
  return block;
}

/// The compact half of write_frame(): the head takes the place of the object's beginning, which is longer.
template <class M>
[[nodiscard]] bool write_compact_frame(BufferPool& pool, hub::OutQueue& out, const M& message) {
  const std::span<char> room = out.prepare(pool, static_cast<uint32_t>(wire::max_size(message)) + 1);
  if (room.empty()) return false;
  const wire::Written json = wire::write(room, message);
  const uint32_t rest_bytes = json.size - json.rest_offset;
  std::array<char, wire::kCompactHeadMax> head;
  const size_t head_bytes = wire::write_compact_head(head, json.type, conversation_of(message), rest_bytes);
  TAUT_DCHECK(head_bytes <= json.rest_offset);
  std::memcpy(room.data(), head.data(), head_bytes);
  std::memmove(room.data() + head_bytes, room.data() + json.rest_offset, rest_bytes);
  room[head_bytes + rest_bytes] = ',';
  return out.commit(pool, static_cast<uint32_t>(head_bytes) + rest_bytes + 1);
}

/// Encodes straight into a connection's output, compressed if there is a `deflater` and it pays. False when
/// the pool is exhausted.
template <class M>
[[nodiscard]] bool write_frame(BufferPool& pool, hub::OutQueue& out, Carrier carrier, const M& message,
                               wire::Deflater* deflater = nullptr) {
  if (carrier == Carrier::compact) return write_compact_frame(pool, out, message);
  const size_t bound = wire::max_size(message);
  const auto guess = static_cast<uint32_t>(wire::ws_header_size(bound));
  const std::span<char> room = out.prepare(pool, guess + static_cast<uint32_t>(bound));
  if (room.empty()) return false;
  const wire::Written json = wire::write(room.subspan(guess), message);
  std::string_view payload(room.data() + guess, json.size);
  const std::string_view deflated = deflater == nullptr ? std::string_view() : deflater->deflate(payload);
  if (!deflated.empty()) payload = deflated;  // fewer bytes: there is room
  const auto ws_header = static_cast<uint32_t>(wire::ws_header_size(payload.size()));
  if (payload.data() != room.data() + ws_header)
    std::memmove(room.data() + ws_header, payload.data(), payload.size());
  wire::write_ws_header(room.first(ws_header), wire::WsOpcode::text, payload.size(), !deflated.empty());
  return out.commit(pool, ws_header + static_cast<uint32_t>(payload.size()));
}

}  // namespace taut::gateway
