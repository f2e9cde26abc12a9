#include "net/connection.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/assert.h"
#include "wire/http.h"

namespace taut::net {

namespace {

/// A request that has not arrived as a whole.
constexpr auto kHttpKeptMax = static_cast<uint32_t>(wire::kHttpHeadBytesMax + wire::kHttpBodyBytesMax);

}  // namespace

Scratch::Scratch(uint32_t frame_bytes_max)
    : capacity(
          std::max(frame_bytes_max + static_cast<uint32_t>(wire::kWsKeptBeyondMessageMax), kHttpKeptMax) +
          kReadBytes) {
  data = static_cast<char*>(::operator new(capacity + wire::kReadablePadding, std::align_val_t{64}));
  std::memset(data, 0, capacity + wire::kReadablePadding);
}

Scratch::~Scratch() {
  ::operator delete(data, std::align_val_t{64});
}

Connection::~Connection() {
  TAUT_ASSERT(kept_ == nullptr && out_.empty());
}

uint32_t Connection::bring_kept(Scratch& scratch, BufferPool& pool) {
  if (kept_ == nullptr) return 0;
  const uint32_t held = kept_->written;
  TAUT_ASSERT(held <= scratch.capacity);
  std::memcpy(scratch.data, kept_->data(), held);
  pool.release(kept_);
  kept_ = nullptr;
  return held;
}

IoResult Connection::receive(Scratch& scratch, BufferPool& pool, bool from_socket, std::span<char>& unread) {
  const uint32_t held = bring_kept(scratch, pool);
  unread = {scratch.data, held};
  if (!from_socket) return {Io::done, 0};
  TAUT_ASSERT(held + Scratch::kReadBytes <= scratch.capacity);
  const IoResult result = stream_.read({scratch.data + held, Scratch::kReadBytes});
  unread = {scratch.data, held + result.bytes};
  return result;
}

IoResult Connection::receive_plain(Scratch& scratch, BufferPool& pool, uint32_t bytes,
                                   std::span<char>& unread) {
  const uint32_t held = bring_kept(scratch, pool);
  TAUT_ASSERT(held + bytes <= scratch.capacity);
  const IoResult result = stream_.read_plain({scratch.data + held, bytes});
  unread = {scratch.data, held + result.bytes};
  return result;
}

bool Connection::keep(BufferPool& pool, std::span<const char> rest, bool secret) {
  TAUT_ASSERT(kept_ == nullptr);
  if (rest.empty()) return true;
  kept_ = pool.allocate(rest.size());
  if (kept_ == nullptr) return false;
  if (secret) kept_->keep_secret();
  std::memcpy(kept_->data(), rest.data(), rest.size());
  kept_->written = static_cast<uint32_t>(rest.size());
  return true;
}

Io Connection::write(BufferPool& pool, hub::BlockReturn& back) {
  while (!out_.empty()) {
    std::array<iovec, hub::OutQueue::kPiecesPerWrite> pieces;
    const uint32_t count = out_.gather(pieces);
    const IoResult written = stream_.write({pieces.data(), count});
    out_.consume(pool, back, written.bytes);
    if (written.status != Io::done) return written.status;
  }
  return Io::done;
}

void Connection::close(BufferPool& pool, hub::BlockReturn& back) {
  out_.clear(pool, back);
  if (kept_ != nullptr) pool.release(kept_);
  kept_ = nullptr;
  stream_.close();
}

}  // namespace taut::net
