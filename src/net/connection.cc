#include "net/connection.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "wire/http.h"

namespace taut::net {

namespace {

/// A request that has not arrived as a whole.
constexpr auto kHttpKeptMax = static_cast<uint32_t>(wire::kHttpHeadBytesMax + wire::kHttpBodyBytesMax);
/// Pieces in one writev; more wait for the next call.
constexpr uint32_t kPiecesPerWrite = 64;

bool again(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

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

IoResult Connection::receive(Scratch& scratch, BufferPool& pool, bool from_socket, std::span<char>& unread) {
  uint32_t held = 0;
  if (kept_ != nullptr) {
    held = kept_->written;
    TAUT_ASSERT(held + (from_socket ? Scratch::kReadBytes : 0) <= scratch.capacity);
    std::memcpy(scratch.data, kept_->data(), held);
    pool.release(kept_);
    kept_ = nullptr;
  }
  unread = {scratch.data, held};
  if (!from_socket) return {Io::done, 0};
  const ssize_t n = ::recv(fd_.get(), scratch.data + held, Scratch::kReadBytes, 0);
  if (n > 0) {
    unread = {scratch.data, held + static_cast<uint32_t>(n)};
    return {Io::done, static_cast<uint32_t>(n)};
  }
  if (n < 0 && again(errno)) return {Io::would_block, 0};
  return {Io::closed, 0};
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
    std::array<iovec, kPiecesPerWrite> pieces;
    const uint32_t count = out_.gather(pieces);
    ssize_t n = 0;
    size_t asked = 0;
    for (uint32_t i = 0; i < count; ++i) asked += pieces[i].iov_len;
    if (count == 1) {
      n = ::send(fd_.get(), pieces[0].iov_base, pieces[0].iov_len, MSG_NOSIGNAL);
    } else {
      msghdr message{};
      message.msg_iov = pieces.data();
      message.msg_iovlen = count;
      n = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    }
    if (n < 0) return again(errno) ? Io::would_block : Io::closed;
    out_.consume(pool, back, static_cast<uint32_t>(n));
    if (static_cast<size_t>(n) < asked) return Io::would_block;
  }
  return Io::done;
}

void Connection::close(BufferPool& pool, hub::BlockReturn& back) {
  out_.clear(pool, back);
  if (kept_ != nullptr) pool.release(kept_);
  kept_ = nullptr;
  fd_.reset();
}

}  // namespace taut::net
